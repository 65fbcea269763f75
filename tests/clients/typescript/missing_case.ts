// A switch that forgets one case: the compiler names the one that is missing.
import type { GameEvent, GameStatus, Move, Table } from './schema';

function never(value: never): never {
  throw new Error(String(value));
}

export function forgetsKeep(move: Move): string {
  switch (move.type) {
    case 'play':
    case 'discard':
    case 'pick':
    case 'choose':
    case 'count':
    case 'take':
      return move.type;
    default:
      return never(move);
  }
}

export function forgetsContrast(table: Table): string {
  switch (table.ruleset) {
    case 'parade':
    case 'tea-time':
    case 'mit-list-und-tuecke':
      return table.ruleset;
    default:
      return never(table);
  }
}

export function forgetsCancelled(status: GameStatus): string {
  switch (status) {
    case 'open':
    case 'playing':
    case 'finished':
      return status;
    default:
      return never(status);
  }
}

export function forgetsAllButOne(event: GameEvent): string {
  switch (event.type) {
    case 'round_scored':
      return event.type;
    default:
      return never(event);
  }
}
