// My turn: choosing a legal move part by part, what it would do, why another is not legal, sending it.

import { front } from './cards.js';
import { Choice } from './choice.js';
import { Refused } from './client.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Move} Move */
/** @typedef {import('./client.js').Preview} Preview */
/** @typedef {import('./table.js').TablePage} TablePage */

export class Turn {
  /** @type {Map<string, Preview>} What each legal move would do. */
  previews = new Map();
  isSending = false;
  /** @type {Move | undefined} The move that is explained now: the choice, or one that is pointed at. */
  #explained;

  /** @param {TablePage} page */
  constructor(page) {
    this.page = page;
    this.client = page.client;
    this.choice = this.#freshChoice();
    this.#loadPreviews();
  }

  /** Begins the choice anew: another turn has begun. */
  begin() {
    this.choice = this.#freshChoice();
    this.page.says = '';
    this.#loadPreviews();
  }

  #freshChoice() {
    return new Choice(this.page.game.legal_moves, this.page.module.parts);
  }

  /** The moves can be played without an answer to this. */
  async #loadPreviews() {
    const { game } = this.page;
    this.previews.clear();
    if (!game.legal_moves.length) return;
    const { turn, moves, previews } = await this.client.get(`/v1/games/${game.id}/legal-moves`, { previews: true });
    if (turn !== this.page.game.turn || this.page.isGone) return;
    moves.forEach((/** @type {Move} */ move, /** @type {number} */ at) => this.previews.set(JSON.stringify(move), previews[at]));
    this.explain(this.#explained);
  }

  get isMine() {
    const { you, to_move } = this.page.game;
    return you !== null && to_move.includes(you);
  }

  get mayChoose() {
    return this.page.game.legal_moves.length > 0 && !this.isSending && !this.page.pace.isBusy;
  }

  /** @param {string} part */
  offers(part) {
    return this.mayChoose && this.choice.offers(part);
  }

  /** @param {string} part */
  press(part) {
    if (!this.offers(part)) return void this.#tellWhyNot(part);
    if (this.choice.isSingle && this.choice.chosen.includes(part)) return void this.play();
    this.choice.toggle(part);
    this.page.says = '';
    this.page.draw();
    this.explain(this.choice.move());
  }

  /** Whether a key is pressed at the table, and not in a field or elsewhere. @param {KeyboardEvent} event */
  #isAtTable({ ctrlKey, metaKey, altKey, target }) {
    if (ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return false;
    return target === document.body || this.page.root.contains(target) && !target.closest('input, select, textarea');
  }

  /** @param {KeyboardEvent} event */
  pressKey(event) {
    if (!this.#isAtTable(event)) return;
    // A key that is held would choose a card and then play it, which cannot be undone.
    if (event.repeat && /^([1-9]|Enter)$/.test(event.key)) return event.preventDefault();
    const buttons = [...this.page.root.querySelectorAll('[data-part]')];
    const chosen = /** @type {HTMLElement | undefined} */ (buttons[Number(event.key) - 1]);
    if (/^[1-9]$/.test(event.key) && chosen) {
      chosen.focus();
      chosen.click();
    } else if (event.key === 'Escape' && this.choice.chosen.length) {
      this.choice.chosen = [];
      this.page.draw();
    }
  }

  /** Says why a part cannot be chosen, in the words of the ruleset. @param {string} part */
  async #tellWhyNot(part) {
    const { game, module, table } = this.page;
    const { id, turn } = game;
    if (turn === null) return;
    // Only a seat may ask the service.
    if (game.you === null) return this.page.say(t(game.left_seat === null ? 'watching' : 'house_plays'));
    if (this.isSending || this.page.pace.isBusy) return this.page.say(t('others_turn'));
    const move = module.attempt(table, [...this.choice.chosen, part]);
    const { rule, code, detail } = await this.client.post(`/v1/games/${id}/moves/check`, { turn, move });
    if (turn === this.page.game.turn) this.page.say(this.#refusal(rule ?? code) ?? detail ?? '');
  }

  /** @param {string | null} rule */
  #refusal(rule) {
    return this.page.ruleset.refusals.find((each) => each.rule === rule)?.text;
  }

  /** Sends a move, the chosen one if none is given. @param {Move | undefined} [move] */
  async play(move = this.choice.move()) {
    if (!move || !this.mayChoose) return;
    this.isSending = true;
    this.page.draw();
    try {
      const { id, turn } = this.page.game;
      const { game, items } = await this.client.post(`/v1/games/${id}/moves`, { turn, move });
      this.choice.chosen = [];
      // Until all that others did is shown, there is nothing to choose.
      await this.page.show(items, game);
      this.isSending = false;
      if (!this.page.pace.isBusy) this.page.draw();
    } catch (error) {
      this.isSending = false;
      if (!(error instanceof Refused)) throw error;
      const { rule, code, detail } = error.problem;
      // The clock was faster, or another tab: show what is true now.
      await this.page.catchUp();
      this.page.pace.add(() => (this.page.say(this.#refusal(rule ?? code) ?? detail), 0));
    }
  }

  /** Shows what a move would do, on the table and in a sentence. @param {Move | undefined} move */
  explain(move) {
    const { root, module } = this.page;
    this.#explained = move;
    for (const each of root.querySelectorAll('.leaves, .keeps, .joins')) each.classList.remove('leaves', 'keeps', 'joins');
    const ghost = root.querySelector('[data-ghost]');
    ghost?.replaceChildren();
    const place = /** @type {HTMLElement | null} */ (root.querySelector('#says'));
    if (!place) return;
    place.classList.remove('costly');
    if (!move || this.page.pace.isBusy) return void (place.textContent = this.page.says || this.#prompt());
    const { says, isCostly, marks, ghost: card } = module.explain(this.page.view(), move, this.previews.get(JSON.stringify(move)), this.choice.beside(module.parts(move)));
    place.textContent = says;
    place.classList.toggle('costly', Boolean(isCostly));
    for (const [part, mark] of Object.entries(marks)) root.querySelector(`[data-flip="${part}"]`)?.classList.add(mark);
    if (card) ghost?.append(front(card));
  }

  #prompt() {
    const { game, log, name, pace, ruleset } = this.page;
    if (pace.isBusy) return log.last(name);
    if (game.status !== 'playing') return '';
    if (this.isMine) return ruleset.move_types.find(({ type }) => type === game.legal_moves[0]?.type)?.description ?? '';
    return t('waiting_for', { names: game.to_move.map(name).join(', ') });
  }
}
