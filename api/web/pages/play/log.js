// What happened at a table, newest first, with the rules of the game below it.

import { announce, h } from './dom.js';
import { drawRules } from './rules.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Ruleset} Ruleset */

/** @typedef {{version: number, seat: number | null, text: string}} Entry */

export class Log {
  /** @type {Entry[]} */
  #entries = [];

  /** Adds what happened, and says it to screen readers. @param {Entry} entry @param {string} who */
  add(entry, who) {
    this.#entries.push(entry);
    announce(who ? `${who}: ${entry.text}` : entry.text);
  }

  /** Puts what is known of the past in the place of all entries up to a version. @param {Entry[]} past @param {number} last */
  replace(past, last) {
    this.#entries = [...past, ...this.#entries.filter(({ version }) => version > last)];
  }

  /** What happened last, for the sentence below the table. @param {(seat: number) => string} name */
  last(name) {
    const entry = this.#entries.at(-1);
    return entry ? [entry.seat === null ? '' : name(entry.seat), entry.text].filter(Boolean).join(': ') : '';
  }

  /** @param {Ruleset} ruleset @param {HTMLElement} root where it is drawn already, open or closed @param {(seat: number) => string} name */
  draw({ title, rules }, root, name) {
    const items = [...this.#entries].reverse().map(({ seat, text }) => h('li', {}, seat !== null && h('b', {}, `${name(seat)}: `), text));
    const isOpen = (/** @type {string} */ selector) => /** @type {HTMLDetailsElement | null} */ (root.querySelector(selector))?.open;
    return h('details', { class: 'log', open: isOpen('.log') },
      h('summary', { 'data-key': 'log' }, t('happened')),
      h('ol', { tabindex: 0, 'data-key': 'told', 'data-scroll': 'told', 'aria-label': t('happened') }, ...items),
      h('details', { open: isOpen('.log details') }, h('summary', { 'data-key': 'rules' }, t('rules', { game: title })), h('div', { class: 'rules' }, ...drawRules(rules))));
  }
}
