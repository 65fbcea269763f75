// A replay: a game that has ended, shown again move by move, from its record and one analysis.

import { Board } from './board.js';
import { Refused } from './client.js';
import { DealCheck } from './deal.js';
import { field } from './dialog.js';
import { announce, h, redraw } from './dom.js';
import { GAMES } from './games.js';
import { ReplayBar } from './replay-bar.js';
import { drawResult } from './result.js';
import { drawSeats } from './seats.js';
import { t } from './texts.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').GameEvent} GameEvent */
/** @typedef {import('./client.js').Ruleset} Ruleset */
/** @typedef {import('./client.js').Table} Table */
/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {Schemas['GameRecord']} GameRecord */

/**
 * A position: the table, the seats that must move, and what has happened since the one before.
 *
 * @typedef {{table: Table, to_move: number[], events: GameEvent[]}} Position
 */

const STEP = 1300;
const REFUSALS = ['game_not_found', 'game_not_over', 'record_not_found'];

/**
 * Reads what a replay needs. Where there is no record for this visitor, the page says why.
 *
 * @param {App} app @param {HTMLElement} root @param {string} id @param {string | undefined} at
 * @returns {Promise<(() => {close: () => void}) | null>} Null for a ruleset that this page does not draw.
 */
export async function prepareReplay(app, root, id, at) {
  try {
    const game = await app.client.get(`/v1/games/${id}`);
    if (!(game.ruleset in GAMES)) return null;
    const record = await app.client.get(`/v1/games/${id}/record`);
    const ruleset = await app.client.get(`/v1/rulesets/${game.ruleset}`);
    const positions = await readPositions(app, record, game.you);
    return () => new ReplayPage(app, root, game, ruleset, record, positions, Number(at ?? 0));
  } catch (error) {
    if (!(error instanceof Refused) || !REFUSALS.includes(error.problem.code)) throw error;
    const { code } = error.problem;
    return () => showRefusal(root, id, code);
  }
}

/** @param {HTMLElement} root @param {string} id @param {string} code */
function showRefusal(root, id, code) {
  document.title = `${t('replay')} · Ludothèque`;
  root.replaceChildren(h('section', { class: 'end', id: 'no-replay' },
    h('h1', {}, t('replay')), h('p', {}, t(`replay.${code}`)),
    h('div', { class: 'actions' },
      code === 'game_not_over' && h('a', { class: 'button', href: `#/game/${id}` }, t('replay.watch')),
      h('a', { class: 'button', href: '#/' }, t('lobby')))));
  return { close: () => {} };
}

/** @param {App} app @param {GameRecord} record @param {number | null} seat whose view is shown @returns {Promise<Position[]>} */
async function readPositions({ client }, { ruleset, seat_count, options, deal, moves }, seat) {
  /** @type {Schemas['Analysis']} */
  const analysis = await client.post('/v1/analysis', { ruleset, seat_count, options, deal, moves, trace: true, seat });
  const { events, steps = [], spectator, views, to_move } = analysis;
  const last = { table: seat === null ? spectator : views[seat], to_move, event_count: events.length };
  return [...steps, last].map((step, at) => ({ table: step.table, to_move: step.to_move, events: events.slice(at ? steps[at - 1].event_count : 0, step.event_count) }));
}

export class ReplayPage extends Board {
  /** The position that is shown: the number of moves before it. */
  at = 0;
  isPlaying = false;
  isGone = false;
  speed = 1;
  /** @type {number | undefined} */
  timer;
  /** @type {number | undefined} */
  addressTimer;

  /** @param {App} app @param {HTMLElement} root @param {Game} game @param {Ruleset} ruleset @param {GameRecord} record @param {Position[]} positions @param {number} at */
  constructor(app, root, game, ruleset, record, positions, at) {
    super(app, root, game, ruleset);
    this.whole = game;
    this.record = record;
    this.positions = positions;
    /** @type {number | null} Whose view is shown. */
    this.seat = game.you;
    /** @type {number | null} Whose view the visitor chose last; its positions may be on their way. */
    this.chosen = game.you;
    this.deal = new DealCheck(this, () => this.draw());
    this.stage = h('div', {});
    this.after = h('div', {});
    this.bar = new ReplayBar(this);
    root.replaceChildren(this.stage, this.bar.element, this.after);
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressKey(event);
    addEventListener('keydown', this.onKey);
    document.title = `${t('replay')} · ${ruleset.title} · Ludothèque`;
    this.show(Number.isInteger(at) ? at : 0);
  }

  get me() {
    return this.whole.you;
  }

  get last() {
    return this.positions.length - 1;
  }

  close() {
    this.isGone = true;
    this.pause();
    clearTimeout(this.addressTimer);
    removeEventListener('keydown', this.onKey);
  }

  // --- Going through the game -------------------------------------------------------------

  /** Goes to a position, and stops there. @param {number} at */
  go(at) {
    this.pause();
    this.show(at);
    announce(this.sentence());
  }

  toggle() {
    if (this.isPlaying || !this.last) return this.pause();
    this.isPlaying = true;
    if (this.at === this.last) this.show(0);
    this.bar.draw();
    this.#playOn();
  }

  pause() {
    this.isPlaying = false;
    clearTimeout(this.timer);
    this.bar.draw();
  }

  /** Shows which cards leave, then the next position, and so on. */
  #playOn() {
    const pause = Math.max(0, ...this.positions[this.at + 1].events.map((event) => this.lift(event)));
    this.timer = setTimeout(() => {
      this.show(this.at + 1);
      announce(this.sentence());
      if (this.at === this.last) this.pause();
      else this.timer = setTimeout(() => this.#playOn(), STEP / this.speed);
    }, pause / this.speed);
  }

  /** Shows the game as another seat or a spectator saw it. @param {number | null} seat */
  async seeAs(seat) {
    this.chosen = seat;
    const positions = await readPositions(this.app, this.record, seat);
    if (this.isGone || seat !== this.chosen) return;
    // The seat and its positions change together, or a hand would be shown under another name.
    this.seat = seat;
    this.positions = positions;
    this.show(this.at);
  }

  /** @param {KeyboardEvent} event */
  pressKey(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, [tabindex="0"], dialog')) return;
    const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.last });
    if (event.key in steps) this.go(steps[event.key]);
    else if (event.key === ' ' && !target.closest('button, a, summary')) this.toggle();
    else return;
    event.preventDefault();
  }

  // --- How it looks -----------------------------------------------------------------------

  /** @param {number} at */
  show(at) {
    const next = Math.min(Math.max(0, at), this.last);
    const isStep = next === this.at + 1;
    this.at = next;
    const { table, to_move, events } = this.positions[next];
    const isEnd = next === this.last;
    this.table = table;
    this.game = { ...this.whole, you: this.seat, to_move, status: isEnd ? this.whole.status : 'playing' };
    const actor = events.find((event) => 'seat' in event && event.seat !== null);
    this.draw(isStep && actor && 'seat' in actor ? `seat-${actor.seat}` : undefined);
    this.#keepAddress();
  }

  /** The address names the position, so that a reload and a link show it. */
  #keepAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => history.replaceState(null, '', this.address), 300);
  }

  get address() {
    return `${location.href.split('#')[0]}#/replay/${this.game.id}/${this.at}`;
  }

  /** @param {string} [place] where cards go that leave */
  draw(place) {
    const { game, module } = this;
    const hand = [module.hand(this.view())].flat(1);
    redraw(this.stage, [
      h('div', { class: 'tablehead' }, h('h1', {}, t('replay_of', { game: this.ruleset.title })), h('p', { class: 'soft' }, module.facts(this.table).join(' · '))),
      drawSeats(this),
      h('section', { class: `felt ${game.ruleset}`, 'aria-label': t('table') }, ...[module.table(this.view())].flat(1)),
      hand.length > 0 && h('section', { class: 'own still', 'aria-labelledby': 'whose' }, h('small', { id: 'whose' }, t('hand_of', { name: this.name(this.seat ?? 0) })), h('div', { class: 'hand' }, ...hand)),
    ], place);
    redraw(this.after, [
      this.at === this.last && h('div', { class: 'end' }, drawResult(this), this.deal.draw()),
      this.drawLink(),
    ]);
    this.bar.draw();
  }

  drawLink() {
    const copy = () => navigator.clipboard?.writeText(this.address).then(() => announce(t('copied')));
    return h('section', { class: 'box' },
      this.drawReaders(),
      field('link', t('replay.link'), { readonly: true, value: this.address, 'data-key': 'link' }, h('button', { type: 'button', 'data-key': 'copy', click: copy }, t('copy'))),
      this.game.visibility === 'private' && h('p', { class: 'soft' }, t('replay.private')),
      h('div', { class: 'actions' }, h('a', { class: 'button', href: `#/game/${this.game.id}` }, t('replay.game')), h('a', { class: 'button', href: '#/' }, t('lobby'))));
  }

  drawReaders() {
    const option = (/** @type {number | null} */ seat) => h('option', { value: seat ?? '', selected: seat === this.chosen }, seat === null ? t('replay.spectator') : this.name(seat));
    const choose = (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      this.seeAs(value === '' ? null : Number(value));
    };
    return h('p', { class: 'field' }, h('label', { for: 'seen-by' }, t('replay.seen_by')),
      h('select', { id: 'seen-by', 'data-key': 'seen-by', change: choose }, option(null), ...this.game.seats.map(({ seat }) => option(seat))));
  }

  /** What the last move was, and what came of it. */
  sentence() {
    if (this.at === 0) return t('replay.start');
    const move = this.record.moves[this.at - 1];
    /** @type {{seat: number | null, texts: string[]}[]} */
    const parts = move.type === 'move' && move.by === 'clock' ? [{ seat: move.seat, texts: [t('time_ran_out')] }] : [];
    for (const event of this.positions[this.at].events) {
      const seat = 'seat' in event ? event.seat : null;
      if (seat !== parts.at(-1)?.seat) parts.push({ seat, texts: [] });
      parts.at(-1)?.texts.push(this.tell(event, { title: this.title, name: this.name }).replace(/\.$/, ''));
    }
    const said = parts.map(({ seat, texts }) => ({ seat, says: texts.filter(Boolean).join('; ') })).filter(({ says }) => says);
    return said.map(({ seat, says }) => `${seat === null ? '' : `${this.name(seat)}: `}${says}.`).join(' ');
  }
}
