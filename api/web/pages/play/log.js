// What happened at a table, newest first, with the rules of the game below it.

import { announce, h } from './dom.js';
import { drawRules } from './rules.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Ruleset} Ruleset */

export class Log {
  /** @type {{who: string, text: string}[]} */
  #entries = [];

  /** Adds what happened, and says it to screen readers. @param {string} who @param {string} text */
  add(who, text) {
    this.#entries.push({ who, text });
    announce(who ? `${who}: ${text}` : text);
  }

  /** What happened last, for the sentence below the table. */
  get last() {
    const entry = this.#entries.at(-1);
    return entry ? [entry.who, entry.text].filter(Boolean).join(': ') : '';
  }

  /** @param {Ruleset} ruleset @param {HTMLElement} root where it is drawn already, open or closed */
  draw({ title, rules }, root) {
    const items = [...this.#entries].reverse().map(({ who, text }) => h('li', {}, who && h('b', {}, `${who}: `), text));
    const drawn = /** @type {HTMLDetailsElement | null} */ (root.querySelector('details.log'));
    return h('details', { class: 'log', open: drawn?.open },
      h('summary', { 'data-key': 'log' }, t('happened')),
      h('ol', { tabindex: 0, 'aria-label': t('happened') }, ...items),
      h('details', {}, h('summary', {}, t('rules', { game: title })), h('div', { class: 'rules' }, ...drawRules(rules))));
  }
}
