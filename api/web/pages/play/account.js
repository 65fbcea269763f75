// Who plays: a name is asked once; the token stays in this browser, and can be shown and entered.

import { Client, Refused } from './client.js';
import { h } from './dom.js';
import { save, saved } from './store.js';
import { t } from './texts.js';

/** @typedef {import('./main.js').App} App */

const dialog = () => /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));

/** @param {string} id @returns {string} */
const valueOf = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value.trim();

/**
 * Opens a dialog with a form, until it is answered without a problem. Rejects if it is closed.
 *
 * @param {string} title @param {Node[]} fields @param {string} answer @param {() => Promise<void>} act
 * @returns {Promise<void>}
 */
function ask(title, fields, answer, act) {
  const box = dialog();
  const problem = h('p', { class: 'problem', role: 'alert' });
  return new Promise((resolve, reject) => {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      act().then(() => (resolve(), box.close()), (error) => (problem.textContent = error instanceof Refused ? error.problem.detail : String(error)));
    };
    box.replaceChildren(
      h('h2', { id: 'dialog-title' }, title),
      h('form', { submit }, ...fields, problem, h('div', { class: 'actions' }, h('button', { class: 'main', id: 'answer' }, answer), h('button', { type: 'button', click: () => box.close() }, t('close')))));
    box.onclose = () => reject(new Closed());
    box.showModal();
  });
}

/** The visitor closed a dialog without an answer. */
export class Closed extends Error {}

/** Asks for a name, once, and creates a player. @param {App} app */
export async function needPlayer(app) {
  if (app.client.token) return;
  const field = h('p', { class: 'field' }, h('label', { for: 'name' }, t('name')), h('input', { id: 'name', required: true, maxlength: 40, autocomplete: 'nickname', value: saved.name ?? '' }));
  await ask(t('who_are_you'), [h('p', { class: 'soft' }, t('name_why')), field], t('go_on'), async () => {
    const { id, token, name } = await app.client.post('/v1/players', { name: valueOf('name'), kind: 'human' });
    enter(app, id, name, token);
  });
}

/** Shows the token, and takes another one. @param {App} app */
export async function showAccount(app) {
  const token = h('input', { id: 'token', readonly: true, value: saved.token ?? '', focus: (/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select() });
  const fields = [
    h('p', { class: 'soft' }, t('token_why')),
    h('p', { class: 'field' }, h('label', { for: 'token' }, t('token')), token),
    h('p', { class: 'field' }, h('label', { for: 'other' }, t('other_token')), h('input', { id: 'other', required: true, autocomplete: 'off' })),
  ];
  await ask(saved.name ?? t('who_are_you'), fields, t('use_token'), async () => {
    const other = new Client(app.client.url, { token: valueOf('other') });
    const { id, name } = await other.get('/v1/me');
    enter(app, id, name, valueOf('other'));
    app.open();
  });
}

/** @param {App} app @param {string} id @param {string} name @param {string} token */
function enter(app, id, name, token) {
  app.client.token = token;
  save({ id, name, token });
  app.drawHead();
}
