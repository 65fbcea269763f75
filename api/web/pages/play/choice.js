// Chooses a legal move part by part: a card and then another, a cell and then its neighbour.

/** @typedef {import('./client.js').Move} Move */

export class Choice {
  /** @type {string[]} */
  chosen = [];

  /** @param {Move[]} moves The legal moves. @param {(move: Move) => string[]} parts */
  constructor(moves, parts) {
    this.options = moves.map((move) => ({ move, parts: parts(move) })).filter((each) => each.parts.length > 0);
    this.isSingle = this.options.every((each) => each.parts.length === 1);
  }

  /** What would be chosen after the next one: in moves of one part it takes the place of the last. @param {string} part */
  with(part) {
    if (this.chosen.includes(part)) return this.chosen.filter((each) => each !== part);
    return this.isSingle ? [part] : [...this.chosen, part];
  }

  /** Whether a part leads to a legal move, or is chosen. @param {string} part */
  offers(part) {
    const wanted = this.chosen.includes(part) ? [part] : this.with(part);
    return this.options.some(({ parts }) => wanted.every((each) => parts.includes(each)));
  }

  /** The parts that may be chosen beside some. @param {string[]} wanted */
  beside(wanted) {
    if (this.isSingle) return [];
    const longer = this.options.filter(({ parts }) => wanted.every((each) => parts.includes(each)));
    return [...new Set(longer.flatMap(({ parts }) => parts))].filter((part) => !wanted.includes(part));
  }

  /** The legal move of exactly these parts. @param {string[]} [wanted] @returns {Move | undefined} */
  move(wanted = this.chosen) {
    const same = (/** @type {string[]} */ parts) => parts.length === wanted.length && wanted.every((each) => parts.includes(each));
    return wanted.length > 0 ? this.options.find(({ parts }) => same(parts))?.move : undefined;
  }

  /** @param {string} part */
  toggle(part) {
    this.chosen = this.with(part);
    // Without its middle, a line is no line: what is left must still lead somewhere.
    if (this.chosen.length && !this.options.some(({ parts }) => this.chosen.every((each) => parts.includes(each)))) this.chosen = [];
  }
}
