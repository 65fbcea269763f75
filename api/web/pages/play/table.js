// A table: draws a game, lets the visitor choose among the legal moves, and shows what happens.

import { front } from './cards.js';
import { Choice } from './choice.js';
import { Refused } from './client.js';
import { ask, field } from './dialog.js';
import { announce, h, redraw } from './dom.js';
import { GAMES } from './games.js';
import { drawResult } from './result.js';
import { drawRules } from './rules.js';
import { Pace, follow } from './stream.js';
import { duration, t } from './texts.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').Item} Item */
/** @typedef {import('./client.js').Move} Move */
/** @typedef {import('./client.js').Preview} Preview */
/** @typedef {import('./client.js').GameEvent} GameEvent */

const PAUSE = 700;
const SHORT_PAUSE = 250;
const PRESENT_SECONDS = 90;
const LOOK_SECONDS = 20;
const NAMES = ['snapshot', 'update', 'end'];

export class TablePage {
  /** @type {Game} The game as it is shown: while events are drawn, the one before them. */
  game;
  /** @type {any} The table as it is shown. */
  table;
  /** @type {Map<string, Preview>} */
  previews = new Map();
  /** @type {{version: number, seat: number | null, text: string}[]} */
  log = [];
  /** The last item that is shown in full. */
  told = 0;
  /** @type {(string | null)[]} */
  lastSeen = [];
  pace = new Pace();
  /** @type {number | null} The seat whose event is shown. */
  actor = null;
  isSending = false;
  isLooking = false;
  isGone = false;
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
    this.seen = this.told = game.version;
    this.cursor = game.cursor;
    this.choice = this.freshChoice();
    const path = `/v1/games/${game.id}`;
    this.stream = this.isOver ? null : follow(`${this.client.url}${path}/stream`, () => this.client.post(`${path}/stream-tickets`), NAMES, (name, data) => this.onEvent(name, data), game.cursor);
    this.timers = [setInterval(() => this.tick(), 500), setInterval(() => this.look(), 1000 * LOOK_SECONDS)];
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressKey(event);
    addEventListener('keydown', this.onKey);
    this.look();
    this.loadLog();
    this.loadPreviews();
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
    else this.catchUp().then(() => this.stream?.reopen());
  }

  /** Shows items that are new, one event after another, and then the game. @param {Item[]} items @param {Game} game */
  show(items, game) {
    if (this.isGone) return;
    const fresh = items.filter(({ version }) => version > this.seen && version <= game.version);
    // An answer to my move lacks what came just before it: read all of it.
    if (fresh.length && fresh[0].version !== this.seen + 1) return void this.catchUp();
    if (game.version < this.seen) return;
    this.seen = game.version;
    this.cursor = game.cursor;
    for (const { version, events } of fresh) {
      for (const event of events) {
        this.pace.add(() => this.lift(event));
        this.pace.add(() => this.happen(event, version, game));
      }
    }
    this.pace.add(() => this.settle(game));
  }

  /** Shows all that has happened since what is shown. */
  async catchUp() {
    const game = await this.client.get(`/v1/games/${this.game.id}`);
    const { items, isReset } = await this.readItems(this.cursor);
    if (isReset) this.showAtOnce(game);
    else this.show(items, game);
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
    const before = items.filter(({ version }) => version <= last).flatMap(({ version, events }) => events.flatMap((event) => this.line(event, version)));
    this.log = [...before, ...this.log.filter(({ version }) => version > last)];
    if (!this.pace.isBusy) this.draw();
  }

  /** Forgets what waits to be shown, and shows a game as it is. @param {Game} game */
  showAtOnce(game) {
    this.pace.clear();
    this.seen = game.version;
    this.cursor = game.cursor;
    this.settle(game);
    this.loadLog();
  }

  /** Marks the cards that leave with an event. @param {GameEvent} event */
  lift(event) {
    const leaving = this.module.taken(event).map((part) => this.root.querySelector(`[data-flip="${part}"]`));
    for (const card of leaving) card?.classList.add('leaves');
    return leaving.length ? PAUSE : 0;
  }

  /** Shows an event, and returns the milliseconds to pause. @param {GameEvent} event @param {number} version @param {Game} game The game after it. */
  happen(event, version, game) {
    const seat = 'seat' in event ? event.seat : null;
    this.actor = seat;
    if (event.type === 'game_finished') return 0;
    for (const line of this.line(event, version)) {
      this.log.push(line);
      announce(seat === null ? line.text : `${this.nameIn(game, seat)}: ${line.text}`);
    }
    if (!this.table) return 0;
    this.module.fold(this.table, event, this.game.you);
    const isDrawn = event.type === 'card_drawn';
    this.draw(isDrawn && event.card ? 'pile' : seat === null ? undefined : `seat-${seat}`);
    return isDrawn ? SHORT_PAUSE : PAUSE;
  }

  /** @param {Game} game */
  settle(game) {
    if (this.isGone) return 0;
    const isNew = game.turn !== this.game.turn || game.status !== this.game.status;
    const wasMine = this.isMyTurn;
    this.game = game;
    this.told = game.version;
    this.actor = null;
    this.table = structuredClone(game.table);
    if (isNew) {
      this.choice = this.freshChoice();
      this.says = '';
      this.loadPreviews();
    }
    this.draw();
    if (this.isMyTurn && !wasMine) announce(t('your_turn'));
    if (isNew && game.status === 'finished') announce(this.root.querySelector('#outcome')?.textContent ?? '');
    return 0;
  }

  /** The line of an event in the list of what happened, if it has one. @param {GameEvent} event @param {number} version */
  line(event, version) {
    const text = event.type === 'game_finished' ? '' : this.tell(event);
    return text ? [{ version, seat: 'seat' in event ? event.seat : null, text }] : [];
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

  // --- What I do --------------------------------------------------------------------------

  freshChoice() {
    return new Choice(this.game.legal_moves, this.module.parts);
  }

  get isMyTurn() {
    return this.game.you !== null && this.game.to_move.includes(this.game.you);
  }

  get isOver() {
    return this.game.status === 'finished' || this.game.status === 'cancelled';
  }

  get mayChoose() {
    return this.game.legal_moves.length > 0 && !this.isSending && !this.pace.isBusy;
  }

  /** What moves would do; without an answer they can be played all the same. */
  async loadPreviews() {
    this.previews.clear();
    if (!this.game.legal_moves.length) return;
    const { turn, moves, previews } = await this.client.get(`/v1/games/${this.game.id}/legal-moves`, { previews: true });
    if (turn === this.game.turn) moves.forEach((/** @type {Move} */ move, /** @type {number} */ at) => this.previews.set(JSON.stringify(move), previews[at]));
  }

  /** @param {string} part */
  press(part) {
    if (!this.mayChoose || !this.choice.offers(part)) return void this.tellWhyNot(part);
    if (this.choice.isSingle && this.choice.chosen.includes(part)) return void this.play();
    this.choice.toggle(part);
    this.says = '';
    this.draw();
    this.explain(this.choice.move());
  }

  /** Says why a part cannot be chosen, in the words of the ruleset. @param {string} part */
  async tellWhyNot(part) {
    if (this.isSending || this.pace.isBusy || this.game.turn === null) return;
    const body = { turn: this.game.turn, move: this.module.attempt(this.table, [...this.choice.chosen, part]) };
    const { rule, code, detail } = await this.client.post(`/v1/games/${this.game.id}/moves/check`, body);
    this.say(this.refusal(rule ?? code) ?? detail ?? '');
  }

  /** @param {string | null} rule */
  refusal(rule) {
    return this.ruleset.refusals.find((each) => each.rule === rule)?.text;
  }

  async play() {
    const move = this.choice.move();
    if (!move || !this.mayChoose) return;
    this.isSending = true;
    this.draw();
    try {
      const { game, items } = await this.client.post(`/v1/games/${this.game.id}/moves`, { turn: this.game.turn, move });
      this.isSending = false;
      this.choice.chosen = [];
      this.show(items, game);
      if (!this.pace.isBusy) this.draw();
    } catch (error) {
      this.isSending = false;
      if (!(error instanceof Refused)) throw error;
      const { rule, code, detail } = error.problem;
      // The clock was faster, or another tab: show what is true now.
      await this.catchUp();
      this.pace.add(() => (this.say(this.refusal(rule ?? code) ?? detail), 0));
    }
  }

  /** @param {KeyboardEvent} event */
  pressKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== document.body && !(event.target instanceof HTMLElement && this.root.contains(event.target))) return;
    const buttons = [...this.root.querySelectorAll('[data-part]')];
    const chosen = /** @type {HTMLElement | undefined} */ (buttons[Number(event.key) - 1]);
    if (/^[1-9]$/.test(event.key) && chosen) {
      chosen.focus();
      chosen.click();
    } else if (event.key === 'Escape' && this.choice.chosen.length) {
      this.choice.chosen = [];
      this.draw();
    }
  }

  /** @param {string} text */
  say(text) {
    this.says = text;
    const place = this.root.querySelector('#says');
    if (place) place.textContent = text;
    announce(text);
  }

  /** Shows what a move would do, on the table and in a sentence. @param {Move | undefined} move */
  explain(move) {
    for (const each of this.root.querySelectorAll('.leaves, .keeps')) each.classList.remove('leaves', 'keeps');
    const ghost = this.root.querySelector('[data-ghost]');
    ghost?.replaceChildren();
    const place = /** @type {HTMLElement | null} */ (this.root.querySelector('#says'));
    if (!place) return;
    place.classList.remove('costly');
    if (!move) return void (place.textContent = this.says || this.prompt());
    const { says, isCostly, marks, ghost: card } = this.module.explain(this.view(), move, this.previews.get(JSON.stringify(move)));
    place.textContent = says;
    place.classList.toggle('costly', Boolean(isCostly));
    for (const [part, mark] of Object.entries(marks)) this.root.querySelector(`[data-flip="${part}"]`)?.classList.add(mark);
    if (card) ghost?.append(front(card));
  }

  // --- How it looks -----------------------------------------------------------------------

  title = (/** @type {string} */ name) => this.titles.get(name) ?? name;

  name = (/** @type {number} */ seat) => this.nameIn(this.game, seat);

  /** @param {Game} game @param {number} seat */
  nameIn(game, seat) {
    const { player, house } = game.seats[seat];
    if (player) return player.name;
    if (!house) return t('free_seat');
    const houses = game.seats.filter((each) => each.house && !each.player);
    return houses.length > 1 ? t('house_n', { n: houses.findIndex((each) => each.seat === seat) + 1 }) : t('house');
  }

  view() {
    return { table: this.table, me: this.game.you, title: this.title, button: this.button };
  }

  /** @param {string} part @param {string} [card] @param {string} [label] */
  button = (part, card = part, label = this.title(card)) => {
    const isOffered = this.mayChoose && this.choice.offers(part);
    const isChosen = this.choice.chosen.includes(part);
    const preview = () => this.mayChoose && this.choice.offers(part) && this.explain(this.choice.move(isChosen ? undefined : this.choice.with(part)));
    const back = () => this.mayChoose && this.explain(this.choice.move());
    return h('button', {
      class: `card${isOffered ? ' offered' : ''}${isChosen ? ' chosen' : ''}`, type: 'button', 'aria-label': label, title: label,
      'aria-pressed': isChosen, 'aria-disabled': !isOffered, 'data-part': part, 'data-key': part, 'data-flip': part, 'data-offer': isOffered,
      click: () => this.press(part), mouseenter: preview, focus: preview, mouseleave: back, blur: back,
    }, front(card));
  };

  prompt() {
    const { game } = this;
    if (game.status !== 'playing' || this.pace.isBusy) return '';
    if (this.isMyTurn) return this.ruleset.move_types.find(({ type }) => type === game.legal_moves[0]?.type)?.description ?? '';
    return t('waiting_for', { names: game.to_move.map(this.name).join(', ') });
  }

  /** @param {string} [place] where new cards come from, and where cards go */
  draw(place) {
    if (this.isGone) return;
    const { game } = this;
    redraw(this.root, [
      this.drawHead(),
      this.drawSeats(),
      game.left_seat !== null && h('p', { class: 'banner' }, t('house_plays'), ' ', h('button', { type: 'button', class: 'main', id: 'take-back', click: () => this.join() }, t('take_back'))),
      this.isOver && this.drawEnd(),
      game.status === 'open' && this.drawOpen(),
      this.table && h('section', { class: `felt ${game.ruleset}${this.choice.chosen.length ? ' choosing' : ''}`, 'aria-label': t('table') }, ...[this.module.table(this.view())].flat(1)),
      game.status === 'playing' && this.table && this.drawHand(),
      this.drawLog(),
    ], place);
    if (game.status === 'playing') this.explain(this.choice.move());
    this.tick();
    document.title = `${this.isMyTurn && !this.pace.isBusy ? `● ${t('your_turn')} · ` : ''}${this.ruleset.title} · Ludothèque`;
  }

  drawHead() {
    const { game } = this;
    const facts = this.table ? this.module.facts(this.table) : [];
    const isMine = this.isMyTurn && !this.pace.isBusy;
    return h('div', { class: 'tablehead' },
      h('h1', {}, this.ruleset.title), h('p', { class: 'soft' }, facts.join(' · ')),
      h('p', { class: `turn${isMine ? ' mine' : ''}`, tabindex: -1, 'data-home': true },
        game.status === 'playing' ? (isMine ? t('your_turn') : t('others_turn')) : t(`status.${game.status}`)),
      game.deadline && h('span', { class: 'clock', role: 'timer', 'data-deadline': game.deadline, 'data-whole': game.turn_seconds * 1000 }),
      game.you !== null && !this.isOver && h('button', { type: 'button', class: 'small', id: 'leave', 'data-key': 'leave', click: () => this.leave() }, t('leave')));
  }

  drawSeats() {
    const { game } = this;
    return h('ul', { class: 'seats', 'data-scroll': 'seats', 'aria-label': t('seats') }, ...game.seats.map(({ seat, player, house }) => {
      const shown = this.table ? this.module.seat(this.view(), seat) : { hold: '', chips: [] };
      const isHere = player && !house && Date.parse(this.lastSeen[seat] ?? '') > Date.now() + this.client.clockOffset - 1000 * PRESENT_SECONDS;
      const points = this.table && t('points', { n: this.table.standing[seat] });
      const state = house && player ? t('house_plays_for') : seat === game.you ? t('you') : isHere ? t('present') : '';
      return h('li', { class: `seat${(this.pace.isBusy ? seat === this.actor : game.to_move.includes(seat)) ? ' now' : ''}${seat === game.you ? ' me' : ''}${isHere ? ' here' : ''}`, 'data-place': `seat-${seat}` },
        h('span', { class: 'disc', 'aria-hidden': true }, house ? '⌂' : [...this.name(seat)][0]),
        h('b', { class: 'who', title: this.name(seat) }, this.name(seat)),
        h('small', { class: 'state' }, state),
        h('small', { class: 'hold' }, [points, shown.hold].filter(Boolean).join(' · ')),
        h('span', { class: 'chips' }, ...[shown.chips].flat(1)));
    }));
  }

  drawHand() {
    const move = this.choice.move();
    const cards = [this.module.hand(this.view())].flat(1);
    const main = this.pace.isBusy
      ? h('button', { type: 'button', id: 'skip', 'data-key': 'confirm', click: () => this.pace.hurry() }, t('skip'))
      : h('button', { type: 'button', class: 'main', id: 'confirm', 'data-key': 'confirm', disabled: !move || !this.mayChoose, click: () => this.play() }, this.isSending ? t('sending') : move ? this.verb(move) : t('choose'));
    return h('section', { class: 'own', 'aria-label': t('hand') },
      cards.length > 0 && h('div', { class: 'hand' }, ...cards),
      h('div', { class: 'bar' }, h('p', { id: 'says', class: 'says' }), (this.game.you !== null || this.pace.isBusy) && main));
  }

  /** @param {Move} move */
  verb(move) {
    return this.ruleset.move_types.find(({ type }) => type === move.type)?.title ?? '';
  }

  drawOpen() {
    const { game } = this;
    const isHost = game.host.id === this.app.saved.id;
    const link = game.invite && `${location.href.split('#')[0]}#/join/${game.id}/${game.invite}`;
    const copy = () => navigator.clipboard?.writeText(link ?? '').then(() => this.say(t('copied')));
    return h('section', { class: 'open' },
      h('h2', {}, t('waiting_seats', { n: game.seats.filter(({ player, house }) => !player && !house).length })),
      game.deadline && h('p', {}, t('house_comes')),
      link && field('link', t('link'), { readonly: true, value: link }, h('button', { type: 'button', click: copy }, t('copy'))),
      h('p', { id: 'says', class: 'soft' }, this.says),
      h('div', { class: 'actions' },
        game.you === null && h('button', { type: 'button', class: 'main', id: 'join', click: () => this.join() }, t('join')),
        isHost && h('button', { type: 'button', class: 'main', id: 'start', click: () => this.act('POST', '/start') }, t('start_now'))));
  }

  drawEnd() {
    const { game } = this;
    const isMine = game.you !== null;
    return h('div', { class: 'end' }, drawResult(game, this.title, this.name), h('div', { class: 'actions' },
      isMine && h('button', { type: 'button', class: 'main', id: 'rematch', 'data-key': 'rematch', click: () => this.rematch() }, t(game.rematch ? 'join_rematch' : 'rematch')),
      h('a', { class: 'button', href: '#/' }, t('lobby'))));
  }

  drawLog() {
    const items = [...this.log].reverse().map(({ seat, text }) => h('li', {}, seat !== null && h('b', {}, `${this.name(seat)}: `), text));
    const details = /** @type {HTMLDetailsElement | null} */ (this.root.querySelector('details.log'));
    return h('details', { class: 'log', open: details?.open }, h('summary', { 'data-key': 'log' }, t('happened')),
      h('ol', { tabindex: 0, 'aria-label': t('happened') }, ...items), h('details', {}, h('summary', {}, t('rules', { game: this.ruleset.title })), h('div', { class: 'rules' }, ...drawRules(this.ruleset.rules))));
  }

  /** Draws the clocks. */
  tick() {
    for (const clock of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll('.clock'))) {
      const left = this.client.until(clock.dataset.deadline ?? '');
      clock.textContent = duration(left);
      clock.title = t('time_left', { time: duration(left) });
      clock.style.setProperty('--left', String(Math.min(100, Math.max(0, (100 * left) / Number(clock.dataset.whole)))));
      clock.classList.toggle('short', left < 15_000);
    }
  }

  /** Looks now and then at what no stream tells: who is present, and whether there is a rematch. */
  async look() {
    const { game } = this;
    const hasOthers = game.seats.some(({ seat, player }) => player && seat !== game.you);
    if (document.hidden || !hasOthers || this.isLooking) return;
    this.isLooking = true;
    try {
      const now = await this.client.get(`/v1/games/${game.id}`);
      this.game.rematch = now.rematch;
      if (!this.isOver) {
        const { items } = await this.client.get(`/v1/games/${game.id}/presence`);
        this.lastSeen = items.map((/** @type {{last_seen: string | null}} */ each) => each.last_seen);
      }
      // A stream may be dead without a sign of it.
      if (now.version > this.seen) {
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

  async rematch() {
    const game = await this.client.post(`/v1/games/${this.game.id}/rematch`);
    this.app.go(`#/game/${game.id}`);
  }
}
