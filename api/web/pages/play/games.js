// The rulesets that this page can draw, and what each of them has to say.

import { contrast } from './contrast.js';
import { mitList } from './mit-list.js';
import { parade } from './parade.js';
import { teaTime } from './tea-time.js';

/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').GameEvent} GameEvent */
/** @typedef {import('./client.js').Move} Move */
/** @typedef {import('./client.js').Preview} Preview */
/** @typedef {import('./dom.js').Child} Child */

/**
 * What a ruleset draws with.
 *
 * @template T
 * @typedef {object} View
 * @property {T} table
 * @property {number | null} me My seat.
 * @property {(name: string) => string} title What people call a card, a colour, a face.
 * @property {(seat: number) => string} name Who sits at a seat.
 * @property {Game} game The game as it is shown.
 * @property {(name: string) => string | null} pictureOf The address of a component's picture.
 * @property {(move: Move) => HTMLElement} action A button for a move that has no parts.
 * @property {(part: string, card?: string, label?: string) => HTMLElement} button A part of a move
 *   that I can choose: a card of my hand, or the card in a cell.
 */

/** @typedef {{says: string, isCostly?: boolean, marks: Record<string, string>, ghost?: string}} Explained */
/** @typedef {{heading: string, how: string}} Verdict */
/** @typedef {{head: Child[], cells: {points: number, how: string, isGood: boolean}[]}} ScoreRow */

/**
 * A ruleset, as the page draws it. Its moves are made of parts, which are chosen one by one.
 *
 * @template {Schemas['Table']['ruleset']} R
 * @template [T=Extract<Schemas['Table'], {ruleset: R}>]
 * @typedef {object} GameModule
 * @property {number} seats How many seats "Play now" has.
 * @property {string[][]} art Rows of cards, for the lobby.
 * @property {(table: T, event: GameEvent, me: number | null) => void} fold Changes the table as an event says.
 * @property {(event: GameEvent) => string[]} taken The parts that leave with an event.
 * @property {(move: Move) => string[]} parts The cards or cells that a move names.
 * @property {(table: T, parts: string[]) => Move} attempt A move of these parts, legal or not.
 * @property {(table: T) => string[]} facts What the head of the table says.
 * @property {(view: View<T>) => Child[]} table
 * @property {(view: View<T>) => Child[]} hand
 * @property {(view: View<T>, seat: number) => {hold: string, chips: Child[]}} seat What lies before a seat.
 * @property {(view: View<T>, move: Move, preview: Preview | undefined, beside: string[]) => Explained} explain
 *   What a move would do, and which parts may be chosen beside its own.
 * @property {(event: GameEvent, view: Pick<View<T>, 'title' | 'name'> & Partial<Pick<View<T>, 'game'>>) => string} tell An event in words.
 * @property {(event: GameEvent) => number | undefined} [pause] The milliseconds to look at an event.
 * @property {(event: GameEvent, me: number | null) => boolean} [isUrgent] Whether I must act so soon
 *   that nothing may be shown at leisure.
 * @property {(breakdown: Extract<Schemas['Breakdown'], {ruleset: R}>, names: string[], isMine: boolean) => Verdict | null} [verdict]
 *   How a game ended that is not won by the most points.
 * @property {(breakdown: Extract<Schemas['Breakdown'], {ruleset: R}>, view: Pick<View<T>, 'title'>) => ScoreRow[]} score
 *   What the scores are made of. The text `scoring.<ruleset>` says how points are counted.
 * @property {(breakdown: Extract<Schemas['Breakdown'], {ruleset: R}>, seat: number, view: Pick<View<T>, 'title'>) => string} [tied]
 *   What decides between a tied seat and the others.
 */

/** @type {Record<string, GameModule<any, any>>} */
export const GAMES = { contrast, 'mit-list-und-tuecke': mitList, parade, 'tea-time': teaTime };
