// Who plays: a name is asked once; the token stays in this browser, and can be shown and entered.

import { Client } from './client.js';
import { ask, field, valueOf } from './dialog.js';
import { h } from './dom.js';
import { savePlayer, saved } from './store.js';
import { t } from './texts.js';

/** @typedef {import('./main.js').App} App */

/** Asks for a name, once, and creates a player. @param {App} app */
export async function needPlayer(app) {
  if (app.client.token) return;
  const name = field('name', t('name'), { required: true, maxlength: 40, autocomplete: 'nickname', value: saved.name ?? '' });
  await ask(t('who_are_you'), [h('p', { class: 'soft' }, t('name_why')), name], t('go_on'), async () => {
    const player = await app.client.post('/v1/players', { name: valueOf('name'), kind: 'human' });
    enter(app, player, player.token);
  });
}

/** Shows the token, and takes another one. @param {App} app */
export async function showAccount(app) {
  const parts = [h('p', { class: 'soft' }, t('token_why'))];
  if (saved.token) parts.push(field('token', t('token'), { readonly: true, value: saved.token }));
  parts.push(field('other', t('other_token'), { required: true, autocomplete: 'off', pattern: '[!-~]+' }));
  await ask(saved.token && saved.name ? saved.name : t('token'), parts, t('use_token'), async () => {
    const token = valueOf('other');
    enter(app, await new Client(app.client.url, { token }).get('/v1/me'), token);
    app.open();
  });
}

/** @param {App} app @param {{id: string, name: string}} player @param {string} token */
function enter(app, { id, name }, token) {
  app.client.token = token;
  savePlayer({ id, name, token });
  app.drawHead();
}
