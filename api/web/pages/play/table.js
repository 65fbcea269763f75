// A table: follows a game, shows what happens in order and at a human pace, and draws all its parts.

import { Refused } from './client.js';
import { drawClock, tick } from './clock.js';
import { ask } from './dialog.js';
import { announce, h, redraw } from './dom.js';
import { GAMES } from './games.js';
import { drawAction, drawHand, drawPart } from './hand.js';
import { Log } from './log.js';
import { drawResult } from './result.js';
import { drawSeats, seatName } from './seats.js';
import { Pace, follow } from './stream.js';
import { t } from './texts.js';
import { Turn } from './turn.js';
import { drawWaiting } from './waiting.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').Item} Item */
/** @typedef {import('./client.js').GameEvent} GameEvent */

const PAUSE = 700;
const SHORT_PAUSE = 250;
const LOOK_SECONDS = 20;
const NAMES = ['snapshot', 'update', 'end'];

export class TablePage {
  /** @type {Game} The game as it is shown: while events are drawn, the one before them. */
  game;
  /** @type {any} The table as it is shown. */
  table;
  log = new Log();
  /** @type {(string | null)[]} */
  lastSeen = [];
  pace = new Pace();
  /** @type {number | null} The seat whose event is shown. */
  actor = null;
  isLooking = false;
  isGone = false;
  /** What the page says to the visitor, until the next turn. */
  says = '';

  /** @param {App} app @param {HTMLElement} root @param {Game} game @param {import('./client.js').Ruleset} ruleset */
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
    /** The last item that is shown, or waits to be. */
    this.seen = game.version;
    this.cursor = game.cursor;
    this.turn = new Turn(this);
    const path = `/v1/games/${game.id}`;
    this.stream = this.isOver ? null : follow(`${this.client.url}${path}/stream`, () => this.client.post(`${path}/stream-tickets`), NAMES, (name, data) => this.onEvent(name, data), game.cursor);
    this.timers = [setInterval(() => tick(this.root, this.client), 500), setInterval(() => this.look(), 1000 * LOOK_SECONDS)];
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.turn.pressKey(event);
    addEventListener('keydown', this.onKey);
    this.look();
    this.draw();
  }

  close() {
    this.isGone = true;
    this.stream?.close();
    this.pace.clear();
    this.timers.forEach(clearInterval);
    removeEventListener('keydown', this.onKey);
  }

  // --- What happens -----------------------------------------------------------------------

  /** @param {string} name @param {any} data */
  onEvent(name, data) {
    if (name === 'snapshot') this.showAtOnce(data);
    if (name === 'update') this.show(data.items, data.game);
    if (name !== 'end') return;
    // My seat has changed hands: what I see from now on needs a new ticket.
    if (data.reason === 'ended') this.stream?.close();
    else this.refresh().then(() => this.stream?.reopen());
  }

  /** Shows items that are new, one event after another, and then the game. @param {Item[]} items @param {Game} game */
  show(items, game) {
    if (this.isGone) return;
    const fresh = items.filter((item) => item.version > this.seen);
    // An answer to my move lacks what came just before it: read all of it.
    if (fresh.length && fresh[0].version !== this.seen + 1) return void this.catchUp();
    if (game.version < this.seen) return;
    this.seen = game.version;
    this.cursor = game.cursor;
    if (fresh.some((item) => item.events.some((event) => this.module.isUrgent?.(event, game.you)))) this.pace.hurry();
    for (const event of fresh.flatMap((item) => item.events)) {
      this.pace.add(() => this.lift(event));
      this.pace.add(() => this.happen(event));
    }
    this.pace.add(() => this.settle(game));
  }

  async catchUp() {
    const page = await this.client.get(`/v1/games/${this.game.id}/events`, { since: this.cursor });
    const game = await this.client.get(`/v1/games/${this.game.id}`);
    if (page.reset || page.more || page.items.at(-1)?.version !== game.version) this.showAtOnce(game);
    else this.show(page.items, game);
  }

  async refresh() {
    this.showAtOnce(await this.client.get(`/v1/games/${this.game.id}`));
  }

  /** Forgets what waits to be shown, and shows a game as it is. @param {Game} game */
  showAtOnce(game) {
    this.pace.clear();
    this.seen = game.version;
    this.cursor = game.cursor;
    this.settle(game);
  }

  /** Marks the cards that leave with an event. @param {GameEvent} event */
  lift(event) {
    const leaving = this.module.taken(event).map((part) => this.root.querySelector(`[data-flip="${part}"]`));
    for (const card of leaving) card?.classList.add('leaves');
    return leaving.length ? PAUSE : 0;
  }

  /** Shows an event, and returns the milliseconds to pause. @param {GameEvent} event */
  happen(event) {
    const seat = 'seat' in event ? event.seat : null;
    this.actor = seat;
    if (event.type === 'game_finished') return 0;
    const text = this.tell(event);
    if (text) this.log.add(seat === null ? '' : this.name(seat), text);
    if (!this.table) return 0;
    this.module.fold(this.table, event, this.game.you);
    const isDrawn = event.type === 'card_drawn';
    this.draw(isDrawn && event.card ? 'pile' : seat === null ? undefined : `seat-${seat}`);
    return this.module.pause?.(event) ?? (isDrawn ? SHORT_PAUSE : PAUSE);
  }

  /** @param {Game} game */
  settle(game) {
    if (this.isGone) return 0;
    // A turn may ask me for one move after another.
    const hasOtherMoves = JSON.stringify(game.legal_moves) !== JSON.stringify(this.game.legal_moves);
    const isNew = game.turn !== this.game.turn || game.status !== this.game.status || hasOtherMoves;
    const wasMine = this.turn.isMine;
    this.game = game;
    this.actor = null;
    this.table = structuredClone(game.table);
    if (isNew) this.turn.begin();
    this.draw();
    if (this.turn.isMine && !wasMine) announce(t('your_turn'));
    if (isNew && game.status === 'finished') announce(this.root.querySelector('#outcome')?.textContent ?? '');
    return 0;
  }

  /** @param {GameEvent} event */
  tell(event) {
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
        return this.module.tell(event, this);
    }
  }

  get isOver() {
    return this.game.status === 'finished' || this.game.status === 'cancelled';
  }

  /** @param {string} text */
  say(text) {
    this.says = text;
    const place = this.root.querySelector('#says');
    if (place) place.textContent = text;
    announce(text);
  }

  // --- How it looks -----------------------------------------------------------------------

  title = (/** @type {string} */ name) => this.titles.get(name) ?? name;

  name = (/** @type {number} */ seat) => seatName(this.game, seat);

  pictureOf = (/** @type {string} */ name) => this.client.pictureOf(this.ruleset, name);

  view() {
    return { table: this.table, me: this.game.you, title: this.title, name: this.name, game: this.game, pictureOf: this.pictureOf, button: this.button, action: this.action };
  }

  button = (/** @type {string} */ part, card = part, label = this.title(card)) => drawPart(this, part, card, label);

  action = (/** @type {import('./client.js').Move} */ move) => drawAction(this, move);

  /** @param {string} [place] where new cards come from, and where cards go */
  draw(place) {
    if (this.isGone) return;
    const { game } = this;
    redraw(this.root, [
      this.drawHead(),
      drawSeats(this),
      game.left_seat !== null && h('p', { class: 'banner' }, t('house_plays'), ' ', h('button', { type: 'button', class: 'main', id: 'take-back', click: () => this.join() }, t('take_back'))),
      this.isOver && this.drawEnd(),
      game.status === 'open' && drawWaiting(this),
      this.table && h('section', { class: `felt ${game.ruleset}${this.turn.choice.chosen.length ? ' choosing' : ''}`, 'aria-label': t('table') }, ...[this.module.table(this.view())].flat(1)),
      game.status === 'playing' && this.table && drawHand(this),
      this.log.draw(this.ruleset, this.root),
    ], place);
    if (game.status === 'playing') this.turn.explain(this.turn.choice.move());
    tick(this.root, this.client);
    document.title = `${this.turn.isMine && !this.pace.isBusy ? `● ${t('your_turn')} · ` : ''}${this.ruleset.title} · Ludothèque`;
  }

  drawHead() {
    const { game } = this;
    const facts = this.table ? this.module.facts(this.table) : [];
    const isMine = this.turn.isMine && !this.pace.isBusy;
    return h('div', { class: 'tablehead' },
      h('h1', {}, this.ruleset.title), h('p', { class: 'soft' }, facts.join(' · ')),
      h('p', { class: `turn${isMine ? ' mine' : ''}`, tabindex: -1, 'data-home': true },
        game.status === 'playing' ? (isMine ? t('your_turn') : t('others_turn')) : t(`status.${game.status}`)),
      drawClock(game),
      game.you !== null && !this.isOver && h('button', { type: 'button', class: 'small', id: 'leave', 'data-key': 'leave', click: () => this.leave() }, t('leave')));
  }

  drawEnd() {
    const { game } = this;
    const isMine = game.you !== null;
    return h('div', { class: 'end' }, drawResult(game, this.title, this.name), h('div', { class: 'actions' },
      isMine && h('button', { type: 'button', class: 'main', id: 'rematch', 'data-key': 'rematch', click: () => this.rematch() }, t(game.rematch ? 'join_rematch' : 'rematch')),
      h('a', { class: 'button', href: '#/' }, t('lobby'))));
  }

  /** Looks now and then at what no stream tells: who is present, and whether there is a rematch. */
  async look() {
    const { game } = this;
    const hasOthers = game.seats.some(({ seat, player }) => player && seat !== game.you);
    if (document.hidden || !hasOthers || this.isLooking) return;
    this.isLooking = true;
    try {
      await this.#readPresence();
    } finally {
      this.isLooking = false;
    }
    if (!this.pace.isBusy) this.draw();
  }

  async #readPresence() {
    const path = `/v1/games/${this.game.id}`;
    if (this.isOver) {
      const { rematch } = await this.client.get(path);
      this.game.rematch = rematch;
    } else {
      const { items } = await this.client.get(`${path}/presence`);
      this.lastSeen = items.map((/** @type {{last_seen: string | null}} */ each) => each.last_seen);
    }
  }

  // --- Seats ------------------------------------------------------------------------------

  /** @param {string} method @param {string} path @param {object} [body] */
  async act(method, path, body) {
    try {
      this.showAtOnce(await this.client.send(method, `/v1/games/${this.game.id}${path}`, body));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.say(error.problem.detail);
    }
  }

  async join() {
    await this.app.needPlayer();
    await this.act('POST', '/seats', {});
    this.stream?.reopen();
  }

  async leave() {
    await ask(t('leave_sure'), [h('p', {}, t(this.game.status === 'open' ? 'leave_open' : 'leave_why'))], t('leave'));
    await this.act('DELETE', '/seats/me');
    this.app.go('#/');
  }

  async rematch() {
    const game = await this.client.post(`/v1/games/${this.game.id}/rematch`);
    this.app.go(`#/game/${game.id}`);
  }
}
