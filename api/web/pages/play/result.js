// The end of a game: who has won, and what each score is made of.

import { h } from './dom.js';
import { GAMES } from './games.js';
import { joined, t } from './texts.js';

/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./client.js').Result} Result */

/**
 * @param {Game} game @param {(name: string) => string} title @param {(seat: number) => string} name
 * @returns {HTMLElement}
 */
export function drawResult(game, title, name) {
  const result = game.result;
  if (!result) return h('section', { class: 'result', 'aria-labelledby': 'outcome' }, h('h2', { id: 'outcome' }, t('cancelled')));
  const seats = game.seats.map(({ seat }) => seat).sort((a, b) => result.ranks[a] - result.ranks[b]);
  const verdict = GAMES[game.ruleset].verdict?.(result.breakdown, result.winners.map(name), game.you !== null);
  const places = h('ol', { class: 'places' }, ...seats.map((seat) =>
    h('li', { class: result.winners.includes(seat) ? 'first' : '' },
      result.winners.length > 0 && h('b', { class: 'rank' }, t('rank', { n: result.ranks[seat] })),
      h('span', { class: 'who' }, name(seat)),
      h('span', { class: 'score' }, t('points', { n: result.scores[seat] })))));
  return h('section', { class: 'result', 'aria-labelledby': 'outcome' },
    h('h2', { id: 'outcome' }, verdict?.heading ?? outcome(game, result, name)),
    h('p', { class: 'soft' }, verdict?.how ?? t(`best.${result.best}`), result.tie_break ? ` ${t(`tie.${result.tie_break}`)}` : ''),
    places, scoreTable(game, result, title, name));
}

/** @param {Game} game @param {Result} result @param {(seat: number) => string} name */
function outcome(game, result, name) {
  const { winners } = result;
  if (game.you !== null && winners.includes(game.you)) return t(winners.length > 1 ? 'you_share' : 'you_win');
  return t('wins', { n: winners.length, names: joined(winners.map(name)) });
}

/** @param {Game} game @param {Result} result @param {(name: string) => string} title @param {(seat: number) => string} name */
function scoreTable(game, result, title, name) {
  const rows = GAMES[game.ruleset].score(result.breakdown, { title });
  const row = (/** @type {import('./games.js').ScoreRow} */ { head, cells }) =>
    h('tr', {}, h('th', { scope: 'row' }, ...head), ...cells.map(({ points, how, isGood }) =>
      h('td', { class: isGood ? 'good' : '' }, h('b', {}, points), how && h('small', {}, how))));
  const total = h('tr', {}, h('th', { scope: 'row' }, t('total')), ...result.scores.map((score) => h('td', {}, h('b', {}, score))));
  return h('div', { class: 'scroll', 'data-scroll': 'scores', tabindex: 0, role: 'region', 'aria-label': t('made_of') },
    h('table', {},
      h('caption', {}, t('made_of')),
      h('thead', {}, h('tr', {}, h('td', {}), ...game.seats.map(({ seat }) => h('th', { scope: 'col' }, name(seat))))),
      h('tbody', {}, ...rows.map(row)),
      h('tfoot', {}, total)));
}
