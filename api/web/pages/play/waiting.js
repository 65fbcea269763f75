// A table that waits for players: the link to send, joining, starting with the house.

import { field } from './dialog.js';
import { h } from './dom.js';
import { t } from './texts.js';

/** @typedef {import('./table.js').TablePage} TablePage */

/** @param {TablePage} page */
export function drawWaiting(page) {
  const { game } = page;
  const isHost = game.host.id === page.app.saved.id;
  const free = game.seats.filter(({ player, house }) => !player && !house).length;
  const link = game.invite && `${location.href.split('#')[0]}#/join/${game.ruleset}/${game.id}/${game.invite}`;
  const copy = () => navigator.clipboard?.writeText(link ?? '').then(() => page.say(t('copied')));
  return h('section', { class: 'open' },
    h('h2', {}, t('waiting_seats', { n: free })),
    game.deadline && h('p', {}, t('house_comes')),
    link && field('link', t('link'), { readonly: true, value: link, 'data-key': 'link' }, h('button', { type: 'button', 'data-key': 'copy', click: copy }, t('copy'))),
    h('p', { id: 'says', class: 'soft' }, page.says),
    h('div', { class: 'actions' },
      game.you === null && h('button', { type: 'button', class: 'main', id: 'join', 'data-key': 'join', click: () => page.join() }, t('join')),
      isHost && h('button', { type: 'button', class: 'main', id: 'start', 'data-key': 'start', click: () => page.act('POST', '/start') }, t('start_now'))));
}
