// A table: follows a game, shows what happens in order and at a human pace, and draws all its parts.

import { Board } from './board.js';
import { Refused } from './client.js';
import { drawClock, tick } from './clock.js';
import { DealCheck, keepHash } from './deal.js';
import { ask } from './dialog.js';
import { announce, h, redraw } from './dom.js';
import { drawAction, drawHand, drawPart } from './hand.js';
import { Log } from './log.js';
import { Rematch } from './rematch.js';
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
const LOOK_SECONDS = 20;
const NAMES = ['snapshot', 'update', 'end'];

/** While events are drawn, its game is the one before them. */
export class TablePage extends Board {
  log = new Log();
  /** The last item that is shown in full. */
  told = 0;
  pace = new Pace();
  /** @type {number | null} The seat whose event is shown. */
  actor = null;
  isLooking = false;
  isGone = false;
  /** What the page says to the visitor, until the next turn. */
  says = '';

  /** @param {App} app @param {HTMLElement} root @param {Game} game @param {import('./client.js').Ruleset} ruleset */
  constructor(app, root, game, ruleset) {
    super(app, root, game, ruleset);
    /** The last item that is shown, or waits to be. */
    this.seen = this.told = game.version;
    this.cursor = game.cursor;
    this.turn = new Turn(this);
    this.deal = new DealCheck(this, () => this.draw());
    this.rematch = new Rematch(this);
    const path = `/v1/games/${game.id}`;
    this.stream = this.isOver ? null : follow(`${this.client.url}${path}/stream`, async () => (this.client.token ? this.client.post(`${path}/stream-tickets`) : {}), NAMES, (name, data) => this.onEvent(name, data), game.cursor);
    this.timers = [setInterval(() => tick(this.root, this.client), 500), setInterval(() => this.look(), 1000 * LOOK_SECONDS)];
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.turn.pressKey(event);
    addEventListener('keydown', this.onKey);
    keepHash(game);
    this.rematch.begin();
    this.look();
    this.loadLog();
    this.draw();
  }

  close() {
    this.isGone = true;
    this.stream?.close();
    this.rematch.close();
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
    else this.catchUp().then(() => this.stream?.reopen());
  }

  /** Shows items that are new, and then the game. @param {Item[]} items @param {Game} game @returns {Promise<void> | undefined} */
  show(items, game) {
    if (this.isGone || game.version < this.seen) return undefined;
    // A late answer lacks what came before or after its items: read all of it.
    if (!this.isComplete(items, game)) return this.catchUp();
    this.showInOrder(items, game);
    return undefined;
  }

  /** Shows all that has happened since what is shown. @returns {Promise<void>} */
  async catchUp() {
    const game = await this.client.get(`/v1/games/${this.game.id}`);
    const { items, isReset } = await this.readItems(this.cursor);
    if (this.isGone) return;
    if (isReset) return this.showAtOnce(game);
    if (game.version < this.seen) return;
    // What is lacking now cannot be read: reading again would never end.
    if (this.isComplete(items, game)) this.showInOrder(items, game);
    else this.showAtOnce(game);
  }

  /** The items between what is shown and a game. @param {Item[]} items @param {Game} game */
  fresh(items, game) {
    return items.filter(({ version }) => version > this.seen && version <= game.version);
  }

  /** Whether items lead from what is shown to a game: each item is one version. @param {Item[]} items @param {Game} game */
  isComplete(items, game) {
    return this.fresh(items, game).length === game.version - this.seen;
  }

  /** Shows one event after another, and then the game. @param {Item[]} items @param {Game} game */
  showInOrder(items, game) {
    const fresh = this.fresh(items, game);
    this.seen = game.version;
    this.cursor = game.cursor;
    if (fresh.some((item) => item.events.some((event) => this.module.isUrgent?.(event, game.you)))) this.pace.hurry();
    const steps = fresh.flatMap(({ version, events }) => events.flatMap((event) => [() => this.lift(event), () => this.happen(event, version, game)]));
    // All at once: the first must know that others wait, or it offers the moves of the turn before.
    this.pace.add(...steps, () => this.settle(game));
  }

  /** @param {string} [since] @returns {Promise<{items: Item[], isReset: boolean}>} */
  async readItems(since) {
    const { items, more, cursor, reset } = await this.client.get(`/v1/games/${this.game.id}/events`, { since });
    if (reset || !more) return { items, isReset: reset };
    const rest = await this.readItems(cursor);
    return { items: [...items, ...rest.items], isReset: rest.isReset };
  }

  /** Lists what happened before the page was opened, and what it was not told. */
  async loadLog() {
    const { items } = await this.readItems();
    const last = Math.min(this.told, items.at(-1)?.version ?? 0);
    const past = items.filter(({ version }) => version <= last);
    this.log.replace(past.flatMap(({ version, events }) => events.flatMap((event) => this.entries(event, version))), last);
    if (!this.pace.isBusy) this.draw();
  }

  /** The entry of an event in the list of what happened, if it has one. @param {GameEvent} event @param {number} version */
  entries(event, version) {
    const text = event.type === 'game_finished' ? '' : this.tell(event);
    return text ? [{ version, seat: 'seat' in event ? event.seat : null, text }] : [];
  }

  /** Forgets what waits to be shown, and shows a game as it is. @param {Game} game */
  showAtOnce(game) {
    this.pace.clear();
    this.seen = game.version;
    this.cursor = game.cursor;
    this.settle(game);
    this.loadLog();
  }

  /** Shows an event, and returns the milliseconds to pause. @param {GameEvent} event @param {number} version @param {Game} game The game after it. */
  happen(event, version, game) {
    const seat = 'seat' in event ? event.seat : null;
    this.actor = seat;
    this.says = '';
    if (event.type === 'game_finished') return 0;
    for (const entry of this.entries(event, version)) this.log.add(entry, seat === null ? '' : seatName(game, seat));
    if (!this.table) return 0;
    this.module.fold(this.table, event, this.game.you);
    const isDrawn = event.type === 'card_drawn';
    this.draw(isDrawn && event.card ? 'pile' : seat === null ? undefined : `seat-${seat}`);
    return this.module.pause?.(event) ?? PAUSE;
  }

  /** @param {Game} game */
  settle(game) {
    if (this.isGone) return 0;
    // A turn may ask me for one move after another.
    const hasOtherMoves = JSON.stringify(game.legal_moves) !== JSON.stringify(this.game.legal_moves);
    const isNew = game.turn !== this.game.turn || game.status !== this.game.status || game.you !== this.game.you || hasOtherMoves;
    const wasMine = this.turn.isMine && game.turn === this.game.turn;
    this.game = game;
    this.told = game.version;
    this.actor = null;
    this.table = structuredClone(game.table);
    if (isNew) this.turn.begin();
    keepHash(game);
    this.rematch.begin();
    this.draw();
    if (this.turn.isMine && !wasMine) announce(t('your_turn'));
    if (isNew && game.status === 'finished') announce(this.root.querySelector('#outcome')?.textContent ?? '');
    return 0;
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

  button = (/** @type {string} */ part, card = part, label = this.title(card)) => drawPart(this, part, card, label);

  action = (/** @type {import('./client.js').Move} */ move) => drawAction(this, move);

  /** @param {number} seat */
  isNow(seat) {
    return this.pace.isBusy ? seat === this.actor : super.isNow(seat);
  }

  /** @param {string} [place] where new cards come from, and where cards go */
  draw(place) {
    if (this.isGone) return;
    const { game } = this;
    redraw(this.root, [
      this.drawHead(),
      drawSeats(this),
      game.left_seat !== null && h('p', { class: 'banner' }, t('house_plays'), ' ', h('button', { type: 'button', class: 'main', id: 'take-back', 'data-key': 'take-back', click: () => this.join() }, t('take_back'))),
      this.isOver && this.drawEnd(),
      game.status === 'open' && drawWaiting(this),
      this.table && h('section', { class: `felt ${game.ruleset}${this.turn.choice.chosen.length ? ' choosing' : ''}`, 'aria-label': t('table') }, ...[this.module.table(this.view())].flat(1)),
      game.status === 'playing' && this.table && drawHand(this),
      this.log.draw(this.ruleset, this.root, this.name),
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
    const { id, started_at } = this.game;
    return h('div', { class: 'end' }, drawResult(this), h('div', { class: 'actions' },
      this.rematch.draw(),
      started_at && h('a', { class: 'button', id: 'replay', 'data-key': 'replay', href: `#/replay/${id}` }, t('replay')),
      h('a', { class: 'button', 'data-key': 'lobby', href: '#/' }, t('lobby'))),
    started_at && this.deal.draw());
  }

  /** Looks now and then at what the stream does not tell: who is present, and that it is dead. */
  async look() {
    const { id, seats, you } = this.game;
    const hasOthers = seats.some(({ seat, player }) => player && seat !== you);
    if (document.hidden || this.isOver || !hasOthers || this.isLooking) return;
    this.isLooking = true;
    try {
      const { items } = await this.client.get(`/v1/games/${id}/presence`);
      this.lastSeen = items.map((/** @type {{last_seen: string | null}} */ each) => each.last_seen);
      const { version } = await this.client.get(`/v1/games/${id}`);
      if (version > this.seen) {
        await this.catchUp();
        this.stream?.reopen();
      }
    } finally {
      this.isLooking = false;
    }
    if (!this.pace.isBusy) this.draw();
  }

  // --- Seats ------------------------------------------------------------------------------

  /** @param {string} method @param {string} path @param {object} [body] */
  async act(method, path, body) {
    try {
      await this.client.send(method, `/v1/games/${this.game.id}${path}`, body);
      await this.catchUp();
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
}
