// Play again: asks the others at the table, and tells when one of them has asked.

import { Refused } from './client.js';
import { announce, h } from './dom.js';
import { seatName } from './seats.js';
import { follow } from './stream.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./table.js').TablePage} TablePage */

const LOOK_SECONDS = 20;

export class Rematch {
  /** @type {Game | null} The next game at this table, if it can be seen. */
  next = null;
  /** @type {{close: () => void} | null} */
  stream = null;
  /** @type {number | undefined} */
  timer;
  says = '';

  /** @param {TablePage} page */
  constructor(page) {
    this.page = page;
    this.client = page.client;
  }

  /** Watches for a rematch, once the game is over. The stream of my turns tells of invitations at once. */
  begin() {
    if (!this.page.isOver || this.timer) return;
    const { seats, you } = this.page.game;
    const hasOthers = seats.some(({ seat, player }) => player && seat !== you);
    this.timer = setInterval(() => hasOthers && !document.hidden && this.look(), 1000 * LOOK_SECONDS);
    if (you !== null && hasOthers) this.stream = follow(`${this.client.url}/v1/me/stream`, () => this.client.post('/v1/me/stream-tickets'), ['invited'], () => this.look());
    this.look();
  }

  close() {
    this.stream?.close();
    clearInterval(this.timer);
  }

  async look() {
    const { rematch } = await this.client.get(`/v1/games/${this.page.game.id}`);
    if (!rematch) return;
    const isNews = !this.next;
    // A spectator does not see a private one.
    this.next = await this.client.get(`/v1/games/${rematch}`).catch(() => null);
    if (isNews && this.next?.you === null) announce(this.#news(this.next));
    if (!this.page.pace.isBusy) this.page.draw();
  }

  /** @param {Game} next */
  #news(next) {
    const asker = next.seats.find(({ player }) => player)?.seat;
    return asker === undefined ? '' : t('rematch_asked', { name: seatName(next, asker) });
  }

  /** Takes my seat in the next game, which the first one to ask creates. */
  async accept() {
    try {
      const { id } = await this.client.post(`/v1/games/${this.page.game.id}/rematch`);
      this.page.app.go(`#/game/${id}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.says = error.problem.detail;
      this.page.draw();
    }
  }

  draw() {
    const { next } = this;
    const isMine = this.page.game.you !== null;
    const mayAccept = isMine && (!next || next.status === 'open' || next.you !== null);
    return [
      next?.status === 'open' && next.you === null && h('p', { id: 'asked' }, this.#news(next)),
      this.says && h('p', { class: 'problem', role: 'alert' }, this.says),
      mayAccept && h('button', { type: 'button', class: 'main', id: 'rematch', 'data-key': 'rematch', click: () => this.accept() }, t(next ? 'join_rematch' : 'rematch')),
      next && !mayAccept && h('a', { class: 'button', 'data-key': 'rematch', href: `#/game/${next.id}` }, t('watch_rematch')),
    ];
  }
}
