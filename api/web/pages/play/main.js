// The page: finds the service, knows which part of itself is shown, and draws its head.

import { needPlayer, showAccount } from './account.js';
import { Client, Refused, isService } from './client.js';
import { Closed, field, valueOf } from './dialog.js';
import { h } from './dom.js';
import { GAMES } from './games.js';
import { LobbyPage } from './lobby.js';
import { prepareReplay } from './replay.js';
import { forgetToken, onOtherPlayer, save, saved, usePlayerOf } from './store.js';
import { TablePage } from './table.js';
import { LANGUAGES, loadTexts, t } from './texts.js';

const page = /** @type {HTMLElement} */ (document.getElementById('page'));
const head = /** @type {HTMLElement} */ (document.getElementById('head'));
const trouble = /** @type {HTMLElement} */ (document.getElementById('trouble'));

export class App {
  saved = saved;
  /** @type {{close: () => void, stream?: {reopen: () => void} | null} | null} */
  shown = null;
  #opening = 0;
  /** @type {string | null} Why requests wait for an answer. */
  #trouble = null;

  /** @param {string} url */
  constructor(url) {
    this.client = new Client(url, { language: saved.language, onTrouble: (kind) => this.tellTrouble(kind) });
    usePlayerOf(this.client.url);
    this.client.token = saved.token;
    addEventListener('hashchange', () => this.open());
    addEventListener('unhandledrejection', (event) => this.recover(event));
    onOtherPlayer(() => {
      this.client.token = saved.token;
      this.drawHead();
      this.open();
    });
    this.drawHead();
    this.open();
  }

  /** @param {string | null} kind */
  tellTrouble(kind) {
    // What cut off a request has cut off the stream too, which need not notice.
    if (this.#trouble === 'offline' && !kind) this.shown?.stream?.reopen();
    this.#trouble = kind;
    showTrouble(kind);
  }

  needPlayer() {
    return needPlayer(this);
  }

  /** @param {string} hash */
  go(hash) {
    if (location.hash === hash) this.open();
    else location.hash = hash;
  }

  /** Shows what the address names: a game, its replay, an invitation, or the lobby. */
  async open() {
    const mine = ++this.#opening;
    this.shown?.close();
    this.shown = null;
    showTrouble(null);
    const create = await this.prepare(location.hash.split('/'));
    if (mine !== this.#opening || !create) return;
    page.className = create.name;
    page.replaceChildren();
    this.shown = create.page();
    scrollTo({ top: 0 });
  }

  /** @param {string[]} address */
  async prepare([, what, ...names]) {
    if (what === 'game') return this.prepareTable(names[0]);
    if (what === 'replay') return this.prepareReplay(names[0], names[1]);
    if (what === 'join') return this.join(names);
    return this.prepareLobby();
  }

  async prepareLobby() {
    const { items } = await this.client.get('/v1/rulesets');
    return { name: 'lobby', page: () => new LobbyPage(this, page, items) };
  }

  /** @param {string} id */
  async prepareTable(id) {
    const game = await this.client.get(`/v1/games/${id}`);
    if (!(game.ruleset in GAMES)) return OLDER;
    const ruleset = await this.client.get(`/v1/rulesets/${game.ruleset}`);
    return { name: 'table', page: () => new TablePage(this, page, game, ruleset) };
  }

  /** @param {string} id @param {string} [at] */
  async prepareReplay(id, at) {
    const create = await prepareReplay(this, page, id, at);
    return create ? { name: 'table', page: create } : OLDER;
  }

  /** @param {string[]} names The ruleset, which links of older pages lack, the game and the invite. */
  async join(names) {
    const [invite, id, ruleset] = names.reverse();
    // A private game cannot be read before a seat is taken, so the link tells its ruleset.
    if (ruleset && !(ruleset in GAMES)) return OLDER;
    try {
      await this.needPlayer();
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      // Without a name an invitation leads to the lobby, unless the visitor has gone elsewhere.
      if (location.hash.startsWith('#/join/')) this.go('#/');
      return;
    }
    await this.client.post(`/v1/games/${id}/seats`, { invite });
    location.replace(`#/game/${id}`);
  }

  /** @param {PromiseRejectionEvent} event */
  recover(event) {
    const { reason } = event;
    if (reason instanceof Closed) return event.preventDefault();
    if (!(reason instanceof Refused)) return;
    event.preventDefault();
    if (reason.problem.code === 'invalid_token' && reason.token) {
      // The player has expired, or its token was replaced elsewhere.
      forgetToken(reason.token);
      if (this.client.token !== reason.token) return; // the player has changed since that request
      this.client.token = saved.token;
      this.drawHead();
      this.open();
    }
    showTrouble(null, reason.problem.detail);
    if (!this.shown) page.replaceChildren(h('p', { class: 'banner' }, reason.problem.detail, ' ', h('a', { href: '#/' }, t('lobby'))));
  }

  drawHead() {
    const choose = async (/** @type {Event} */ event) => {
      save({ language: /** @type {HTMLSelectElement} */ (event.target).value });
      this.client.language = saved.language;
      await loadTexts();
      this.drawHead();
      this.open();
    };
    const languages = Object.entries(LANGUAGES).map(([code, name]) => h('option', { value: code, selected: code === saved.language, lang: code }, name));
    head.replaceChildren(
      h('a', { class: 'brand', href: '#/' }, h('img', { src: './icon.svg', alt: '', width: 28, height: 28 }), 'Ludothèque'),
      h('nav', { 'aria-label': t('service') }, h('a', { href: `${this.client.url}/docs` }, t('reference'))),
      h('label', { class: 'unseen', for: 'language' }, t('language')),
      h('select', { id: 'language', change: choose }, ...languages),
      h('button', { type: 'button', id: 'account', click: () => showAccount(this) }, saved.name && saved.token ? saved.name : t('token')));
  }
}

/** What is shown of a game whose ruleset this copy of the page cannot draw. */
const OLDER = { name: 'table', page: showOlder };

function showOlder() {
  document.title = 'Ludothèque';
  page.replaceChildren(h('p', { class: 'banner', id: 'older' }, t('page_is_older'), ' ', h('a', { href: '#/' }, t('lobby'))));
  return { close: () => {} };
}

/** Shows that requests wait for an answer, or why one failed. @param {string | null} kind @param {string} [detail] */
function showTrouble(kind, detail) {
  trouble.textContent = kind ? t(`trouble.${kind}`) : (detail ?? '');
  trouble.hidden = !kind && !detail;
}

/** Asks for the service's address, where the page comes from another server. @param {string} [tried] */
function askAddress(tried) {
  const goOn = h('button', { class: 'main', id: 'use' }, t('go_on'));
  const use = async (/** @type {Event} */ event) => {
    event.preventDefault();
    goOn.disabled = true; // a second click would open the page twice
    const url = valueOf('api');
    if (!(await isService(url))) return askAddress(url);
    save({ api: url });
    new App(url);
  };
  page.replaceChildren(h('form', { class: 'box', submit: use },
    h('h1', {}, t('where')), h('p', { class: 'soft' }, t('where_why')),
    tried && h('p', { class: 'problem', role: 'alert' }, t('not_there', { url: tried })),
    field('api', t('address'), { type: 'url', required: true, value: tried ?? 'http://127.0.0.1:8000' }),
    h('div', { class: 'actions' }, goOn)));
}

await loadTexts();
const own = new URL('..', import.meta.url).href;
let isOwn = await isService(own);
// The page came from there a moment ago: the service restarts, or the network is away.
for (; isOwn === null; isOwn = await isService(own)) {
  showTrouble('offline');
  await new Promise((resume) => setTimeout(resume, 2000));
}
if (isOwn) new App(own);
else if (saved.api && (await isService(saved.api))) new App(saved.api);
else askAddress(saved.api ?? undefined);
