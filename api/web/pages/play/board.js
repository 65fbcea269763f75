// A game that a page draws, live or again: the module of its ruleset, what things and seats are
// called, its events in words.

import { lyingCard } from './cards.js';
import { h } from './dom.js';
import { GAMES } from './games.js';
import { seatName } from './seats.js';
import { t } from './texts.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').GameEvent} GameEvent */
/** @typedef {import('./client.js').Ruleset} Ruleset */

const LIFT = 700;

export class Board {
  /** @type {Game} The game as it is shown. */
  game;
  /** @type {any} The table as it is shown. */
  table;
  /** @type {(string | null)[]} When each player was last seen. */
  lastSeen = [];

  /** @param {App} app @param {HTMLElement} root @param {Game} game @param {Ruleset} ruleset */
  constructor(app, root, game, ruleset) {
    this.app = app;
    this.client = app.client;
    this.root = root;
    this.game = game;
    this.table = structuredClone(game.table);
    this.module = GAMES[game.ruleset];
    this.ruleset = ruleset;
    this.titles = new Map(ruleset.titles.map(({ name, title }) => [name, title]));
    for (const { name, title } of ruleset.components) this.titles.set(name, title);
  }

  title = (/** @type {string} */ name) => this.titles.get(name) ?? name;

  name = (/** @type {number} */ seat) => seatName(this.game, seat);

  /** A part of a move, here without a use. @type {(part: string, card?: string, label?: string) => HTMLElement} */
  button = (part, card = part, label = this.title(card)) => lyingCard(card, label, { 'data-flip': part });

  /** My seat. */
  get me() {
    return this.game.you;
  }

  /** A button for a move that has no parts; a game that is over has none. @type {(move: import('./client.js').Move) => HTMLElement} */
  action = () => h('span', {});

  pictureOf = (/** @type {string} */ name) => this.client.pictureOf(this.ruleset, name);

  view() {
    return { table: this.table, me: this.game.you, title: this.title, name: this.name, game: this.game, pictureOf: this.pictureOf, button: this.button, action: this.action };
  }

  /** Whether a seat is the one to look at. @param {number} seat */
  isNow(seat) {
    return this.game.to_move.includes(seat);
  }

  /** Marks the cards that leave with an event, and returns the milliseconds to pause. @param {GameEvent} event */
  lift(event) {
    const leaving = this.module.taken(event).map((part) => this.root.querySelector(`[data-flip="${part}"]`));
    for (const card of leaving) card?.classList.add('lifted');
    return leaving.length ? LIFT : 0;
  }

  /** @param {GameEvent} event @param {Pick<Board, 'title' | 'name'>} [words] */
  tell(event, words = this) {
    switch (event.type) {
      case 'seat_taken':
      case 'seat_left':
      case 'seat_handed_over':
      case 'seat_taken_back':
      case 'time_ran_out':
      case 'game_started':
      case 'game_cancelled':
        return t(event.type);
      default:
        return this.module.tell(event, words);
    }
  }
}
