// One switch over every union of the document, with no case left out. Each of them is a compile
// error as soon as the document has a variant that is not here, or one is here that it lacks.
import type {
  Breakdown,
  ItemCause,
  GameEvent,
  GameStatus,
  Move,
  OptionType,
  Preview,
  Table,
} from './schema';

function never(value: never): never {
  throw new Error(`not in the document: ${JSON.stringify(value)}`);
}

/** The same move, put together again from what its type is known to have. */
export function retold(move: Move): Move {
  switch (move.type) {
    case 'play':
      return { type: 'play', card: move.card };
    case 'discard':
      return { type: 'discard', cards: [...move.cards] };
    case 'pick':
      return { type: 'pick', cells: [...move.cells] };
    case 'choose':
      return { type: 'choose', symbol: move.symbol };
    case 'count':
      return { type: 'count' };
    case 'take':
      return { type: 'take', cards: [...move.cards] };
    case 'keep':
      return { type: 'keep', colors: [...move.colors] };
    default:
      return never(move);
  }
}

/** Which seats a table has something of. */
export function seatCount(table: Table): number {
  switch (table.ruleset) {
    case 'parade':
      return table.collections.length;
    case 'tea-time':
      return table.collections.length;
    case 'contrast':
      return table.rows.length;
    case 'mit-list-und-tuecke':
      return table.piles.length;
    default:
      return never(table);
  }
}

/** Whether a table says that its game is over. */
export function isFinished(table: Table): boolean {
  switch (table.ruleset) {
    case 'parade':
      switch (table.phase) {
        case 'play':
        case 'last_round':
        case 'discard':
          return false;
        case 'finished':
          return true;
        default:
          return never(table);
      }
    case 'tea-time':
      switch (table.phase) {
        case 'play':
          return false;
        case 'finished':
          return true;
        default:
          return never(table);
      }
    case 'contrast':
      switch (table.phase) {
        case 'choose':
          return false;
        case 'finished':
          return true;
        default:
          return never(table);
      }
    case 'mit-list-und-tuecke':
      switch (table.phase) {
        case 'play':
        case 'take':
        case 'keep':
          return false;
        case 'finished':
          return true;
        default:
          return never(table);
      }
    default:
      return never(table);
  }
}

/** How many cards a move is known to concern before it is played. */
export function foreseen(preview: Preview): number {
  switch (preview.type) {
    case 'parade_play':
      return preview.collected.length;
    case 'tea_time_pick':
      return preview.cards.length;
    case 'mit_list_und_tuecke_play':
      return preview.high === null ? 0 : 1;
    case 'mit_list_und_tuecke_take':
    case 'nothing':
      return 0;
    default:
      return never(preview);
  }
}

/** The scores by seat that a breakdown adds up to. */
export function totals(breakdown: Breakdown): number[] {
  switch (breakdown.ruleset) {
    case 'parade':
      return breakdown.seats.map(({ colors }) => sum(colors));
    case 'tea-time':
      return breakdown.seats.map(({ characters, alice }) => sum(characters) + alice);
    case 'contrast':
      return breakdown.pictures ?? [breakdown.points ?? 0, breakdown.points ?? 0];
    case 'mit-list-und-tuecke':
      return breakdown.rounds.reduce<number[]>(
        (before, round) => round.map(({ points }, seat) => (before[seat] ?? 0) + points),
        [],
      );
    default:
      return never(breakdown);
  }
}

function sum(lines: { points: number }[]): number {
  return lines.reduce((before, { points }) => before + points, 0);
}

/** An event's seats: whose it is, or none if it is everybody's. */
export function concerned(event: GameEvent): (number | null)[] {
  switch (event.type) {
    case 'seat_taken':
    case 'seat_left':
    case 'seat_handed_over':
    case 'seat_taken_back':
    case 'time_ran_out':
    case 'card_played':
    case 'cards_collected':
    case 'card_drawn':
    case 'last_round_started':
    case 'cards_discarded':
    case 'cards_picked':
    case 'alice_laid':
    case 'symbol_chosen':
    case 'cards_taken':
    case 'colors_kept':
      return [event.seat];
    case 'countdown_started':
      return [event.by, event.missing];
    case 'round_started':
      return [event.dealer, event.leader];
    case 'trick_completed':
      return [event.high, event.low];
    case 'game_finished':
      return event.result.winners;
    case 'game_started':
    case 'game_cancelled':
    case 'hands_laid_down':
    case 'grid_laid':
    case 'picture_shown':
    case 'symbols_revealed':
    case 'rows_refreshed':
    case 'round_scored':
      return [];
    default:
      return never(event);
  }
}

/** Whether a game can still go on. */
export function canGoOn(status: GameStatus): boolean {
  switch (status) {
    case 'open':
    case 'playing':
      return true;
    case 'finished':
    case 'cancelled':
      return false;
    default:
      return never(status);
  }
}

/** Whether somebody at the table did it. */
export function isOfSomebody(cause: ItemCause): boolean {
  switch (cause) {
    case 'player':
    case 'house':
      return true;
    case 'clock':
    case 'table':
      return false;
    default:
      return never(cause);
  }
}

/** Whether a value is one that an option of this type may have. */
export function fits(type: OptionType, value: unknown): boolean {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value);
    case 'string':
      return typeof value === 'string';
    case 'strings':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    default:
      return never(type);
  }
}
