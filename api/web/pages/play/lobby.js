// The lobby: start a game, join one, or go on with one.

import { front, image } from './cards.js';
import { Refused } from './client.js';
import { h, redraw } from './dom.js';
import { GAMES } from './games.js';
import { follow } from './stream.js';
import { t } from './texts.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./client.js').GameSummary} GameSummary */
/** @typedef {import('./client.js').Ruleset} Ruleset */

const NAMES = ['turn', 'started', 'invited', 'ended'];
const TURN_SECONDS = 120;
const HOUSE_AFTER_SECONDS = 20;

export class LobbyPage {
  /** @type {GameSummary[]} */
  mine = [];
  /** @type {GameSummary[]} */
  open = [];
  /** @type {Record<string, number>} The seats that are chosen for each ruleset. */
  seats = {};
  says = '';
  /** The lists as they are drawn. */
  drawn = '';
  isLoading = false;
  /** Whether something happened while the lists were read. */
  isStale = false;
  isBeginning = false;
  isGone = false;

  /** @param {App} app @param {HTMLElement} root @param {Ruleset[]} rulesets */
  constructor(app, root, rulesets) {
    this.app = app;
    this.client = app.client;
    this.root = root;
    this.rulesets = rulesets.filter(({ ruleset }) => ruleset in GAMES);
    for (const { ruleset } of this.rulesets) this.seats[ruleset] = GAMES[ruleset].seats;
    this.stream = this.client.token
      ? follow(`${this.client.url}/v1/me/stream`, () => this.client.post('/v1/me/stream-tickets'), NAMES, () => this.loadSoon())
      : null;
    // No stream tells of my own moves elsewhere, after which the title would go on calling me.
    this.timer = setInterval(() => (document.hidden && !this.mine.some(this.isMyTurn)) || this.load(), 10_000);
    this.onSight = () => document.hidden || this.load();
    document.addEventListener('visibilitychange', this.onSight);
    this.draw();
    this.load();
  }

  close() {
    this.isGone = true;
    this.stream?.close();
    clearInterval(this.timer);
    document.removeEventListener('visibilitychange', this.onSight);
    clearTimeout(this.soon);
  }

  /** Loads the lists once for all that the stream tells at the same moment. */
  loadSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.load(), 200);
  }

  async load() {
    this.isStale = this.isLoading;
    if (this.isLoading) return;
    this.isLoading = true;
    await this.read().finally(() => (this.isLoading = false));
    if (this.isStale) this.load();
  }

  async read() {
    const lists = [this.client.get('/v1/games', { status: 'open', free_seats: true, limit: 20 })];
    if (this.client.token) lists.push(...['playing', 'open', 'invited', 'finished'].map((status) => this.client.get('/v1/me/games', { status, limit: status === 'finished' ? 5 : 50 })));
    const [open, ...mine] = (await Promise.all(lists)).map(({ items }) => items.filter((/** @type {GameSummary} */ game) => game.ruleset in GAMES));
    const all = /** @type {GameSummary[]} */ (mine.flat());
    const ids = new Set(all.map(({ id }) => id));
    this.mine = all.sort((a, b) => Number(this.isMyTurn(b)) - Number(this.isMyTurn(a)));
    this.open = open.filter((/** @type {GameSummary} */ { id }) => !ids.has(id));
    // A new drawing closes a list of seat counts that the visitor has opened.
    if (JSON.stringify([this.mine, this.open]) !== this.drawn) this.draw();
  }

  /** @param {GameSummary} game */
  isMyTurn = (game) => game.you !== null && game.to_move.includes(game.you);

  /** @param {GameSummary} game */
  isOver = ({ status }) => status === 'finished' || status === 'cancelled';

  draw() {
    if (this.isGone) return;
    this.drawn = JSON.stringify([this.mine, this.open]);
    const waiting = this.mine.filter(this.isMyTurn).length;
    const running = this.mine.filter((game) => !this.isOver(game));
    const ended = this.mine.filter(this.isOver);
    document.title = `${waiting ? `(${waiting}) ${t('your_turn')} · ` : ''}Ludothèque`;
    redraw(this.root, [
      h('div', { class: 'hero' }, h('h1', { tabindex: -1, 'data-home': true }, t('lobby_title')), h('p', { class: 'soft' }, t('lobby_lead'))),
      h('p', { id: 'says', role: 'status' }, this.says),
      running.length > 0 && this.drawList('mine', t('my_games'), running, '', (game) => this.drawMine(game)),
      h('section', { class: 'games', 'aria-label': t('games') }, ...this.rulesets.map((ruleset) => this.drawGame(ruleset))),
      h('div', { class: 'two' },
        this.drawList('tables', t('open_tables'), this.open, t('no_open_tables'), (game) => this.drawTable(game)),
        ended.length > 0 && this.drawList('ended', t('ended_games'), ended, '', (game) => this.drawMine(game))),
    ]);
  }

  /** @param {Ruleset} of */
  drawGame(of) {
    const { ruleset, title, seat_counts: { minimum, maximum } } = of;
    const face = (/** @type {string} */ card) => {
      const url = this.client.pictureOf(of, card);
      return url ? image(url, '', { class: 'front' }) : front(card);
    };
    return h('article', { class: 'game', 'data-ruleset': ruleset },
      h('div', { class: 'art', 'aria-hidden': true }, ...GAMES[ruleset].art.map((row) => h('div', {}, ...row.map((card) => h('span', { class: 'card' }, face(card)))))),
      h('h2', {}, title),
      h('p', { class: 'meta' }, t('players_and_time', { minimum, maximum, minutes: t(`minutes.${ruleset}`) })),
      h('p', { class: 'about soft' }, t(`about.${ruleset}`)),
      h('div', { class: 'actions' },
        ...this.drawSeatCounts(ruleset, minimum, maximum),
        this.drawStart('play_now', ruleset, (seat_count) => this.client.post('/v1/games', { ruleset, seat_count, house: Array(seat_count - 1).fill('careful') })),
        this.drawStart('quick_match', ruleset, (seat_count) => this.client.post('/v1/match', { ruleset, seat_count, turn_seconds: TURN_SECONDS, house_after_seconds: HOUSE_AFTER_SECONDS })),
        this.drawStart('private_table', ruleset, (seat_count) => this.client.post('/v1/games', { ruleset, seat_count, visibility: 'private' }))));
  }

  /** @param {string} ruleset @param {number} minimum @param {number} maximum */
  drawSeatCounts(ruleset, minimum, maximum) {
    const id = `seats-${ruleset}`;
    const counts = Array.from({ length: maximum - minimum + 1 }, (_, at) => minimum + at);
    const choose = (/** @type {Event} */ event) => (this.seats[ruleset] = Number(/** @type {HTMLSelectElement} */ (event.target).value));
    return [
      h('label', { class: 'unseen', for: id }, t('seat_count')),
      h('select', { id, 'data-key': id, change: choose }, ...counts.map((n) => h('option', { value: n, selected: n === this.seats[ruleset] }, t('seat_count_n', { n })))),
    ];
  }

  /** @param {string} name @param {string} ruleset @param {(seats: number) => Promise<GameSummary>} create */
  drawStart(name, ruleset, create) {
    return h('button', { type: 'button', class: name === 'play_now' ? 'main' : '', 'data-key': `${name}-${ruleset}`, 'data-start': name, click: () => this.begin(ruleset, create) }, t(name));
  }

  /** @param {string} ruleset @param {(seats: number) => Promise<GameSummary>} create */
  async begin(ruleset, create) {
    await this.app.needPlayer();
    if (this.isBeginning) return; // a second click would open a second table
    this.isBeginning = true;
    try {
      const { id } = await create(this.seats[ruleset]);
      this.app.go(`#/game/${id}`);
    } catch (error) {
      // Not after a success: until the table is loaded, the lobby can still be clicked.
      this.isBeginning = false;
      if (!(error instanceof Refused)) throw error;
      this.says = error.problem.detail;
      this.draw();
    }
  }

  /** @param {string} name @param {string} title @param {GameSummary[]} games @param {string} none @param {(game: GameSummary) => HTMLElement} draw */
  drawList(name, title, games, none, draw) {
    return h('section', { class: 'box', id: name }, h('h2', {}, title), games.length ? h('ul', {}, ...games.map(draw)) : h('p', { class: 'soft' }, none));
  }

  /** @param {GameSummary} game */
  drawMine(game) {
    const isMine = this.isMyTurn(game);
    const result = game.result && game.you !== null ? this.rank(game.result, game.you) : '';
    const state = isMine ? t('your_turn') : game.status === 'open' && game.you === null ? t('invited') : result || t(`status.${game.status}`);
    return h('li', {}, h('a', { 'data-key': `game-${game.id}`, href: `#/game/${game.id}` }, this.title(game)), h('span', { class: 'people soft' }, this.people(game)), h('b', { class: isMine ? 'mine' : 'soft' }, state));
  }

  /** @param {NonNullable<GameSummary['result']>} result @param {number} seat */
  rank({ winners, ranks, scores }, seat) {
    // Where all lose together, nobody is first.
    return winners.length ? t('rank_of', { n: ranks[seat], points: scores[seat] }) : t('points', { n: scores[seat] });
  }

  /** @param {GameSummary} game */
  drawTable(game) {
    const free = game.seats.filter(({ player, house }) => !player && !house).length;
    return h('li', {}, h('a', { 'data-key': `game-${game.id}`, href: `#/game/${game.id}` }, this.title(game)), h('span', { class: 'people soft' }, `${this.people(game)} · ${t('free_seats', { n: free })}`),
      h('button', { type: 'button', 'data-key': `join-${game.id}`, click: () => this.begin(game.ruleset, () => this.client.post(`/v1/games/${game.id}/seats`, {})) }, t('join')));
  }

  /** @param {GameSummary} game */
  title(game) {
    return this.rulesets.find(({ ruleset }) => ruleset === game.ruleset)?.title ?? game.ruleset;
  }

  /** @param {GameSummary} game */
  people(game) {
    const others = game.seats.filter(({ seat }) => seat !== game.you);
    const names = others.flatMap(({ player }) => (player ? [player.name] : []));
    const houses = others.filter(({ player, house }) => house && !player).length;
    return t('with', { names: [...names, ...(houses ? [t('houses', { n: houses })] : [])].join(', ') || '…' });
  }
}
