// What must not compile: what follows each directive is an error, or the directive itself is one.
import type { Move, MoveBody, Table } from './schema';

export const right: Move[] = [
  { type: 'play', card: 'red-0' },
  { type: 'count' },
  { type: 'choose', symbol: 'heavy' },
];

// @ts-expect-error there is no such type of move
export const unknownType: Move = { type: 'fly' };

// @ts-expect-error a move needs its tag
export const noType: Move = { card: 'red-0' };

// @ts-expect-error to play is to play a card
export const missingMember: Move = { type: 'play' };

// @ts-expect-error the member is called `card`
export const misspelt: Move = { type: 'play', crad: 'red-0' };

// @ts-expect-error one card is no list of cards
export const wrongShape: Move = { type: 'take', cards: 'red-0' };

// @ts-expect-error another move's member
export const foreignMember: Move = { type: 'count', symbol: 'heavy' };

// @ts-expect-error no such symbol
export const unknownSymbol: Move = { type: 'choose', symbol: 'purple' };

// @ts-expect-error a move names the turn that it answers
export const noTurn: MoveBody = { move: { type: 'count' } };

export function narrow(move: Move, table: Table): unknown[] {
  return [
    // @ts-expect-error not every move has a card: its type must be looked at first
    move.card,
    // @ts-expect-error not every table has a parade
    table.parade,
    move.type === 'play' && move.card,
    table.ruleset === 'parade' && table.parade,
  ];
}
