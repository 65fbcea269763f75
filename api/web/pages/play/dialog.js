// Asks the visitor something in a dialog.

import { Refused } from './client.js';
import { h } from './dom.js';
import { t } from './texts.js';

/** The visitor closed a dialog without an answer. */
export class Closed extends Error {}

/** The text of a field. @param {string} id */
export const valueOf = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value.trim();

/** A field with its label. @param {string} id @param {string} label @param {Record<string, any>} properties @param {...Node} more */
export function field(id, label, properties, ...more) {
  const select = (/** @type {Event} */ event) => properties.readonly && /** @type {HTMLInputElement} */ (event.target).select();
  return h('p', { class: 'field' }, h('label', { for: id }, label), h('input', { id, focus: select, ...properties }), ...more);
}

/**
 * Opens a dialog until it is answered without a problem. Rejects with Closed if it is closed, or
 * if the visitor goes elsewhere.
 *
 * @param {string} title @param {Node[]} parts @param {string} answer @param {() => Promise<void>} [act]
 * @returns {Promise<void>}
 */
export function ask(title, parts, answer, act = async () => {}) {
  const box = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));
  const problem = h('p', { class: 'problem', role: 'alert' });
  return new Promise((resolve, reject) => {
    const main = h('button', { class: 'main', id: 'answer' }, answer);
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      main.disabled = true; // a second answer would act twice
      act()
        .then(() => (resolve(), box.close()), (error) => (problem.textContent = error instanceof Refused ? error.problem.detail : String(error)))
        .finally(() => (main.disabled = false));
    };
    const actions = h('div', { class: 'actions' }, main, h('button', { type: 'button', click: () => box.close() }, t('close')));
    box.replaceChildren(h('h2', { id: 'dialog-title' }, title), h('form', { submit }, ...parts, problem, actions));
    const gone = new AbortController();
    addEventListener('hashchange', () => box.close(), { capture: true, signal: gone.signal });
    box.onclose = () => (gone.abort(), reject(new Closed()));
    box.showModal();
  });
}
