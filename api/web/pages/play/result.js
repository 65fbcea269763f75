// The end of a game: who has won, what decided a tie, and what each score is made of.

import { h } from './dom.js';
import { joined, t } from './texts.js';

/** @typedef {import('./board.js').Board} Board */
/** @typedef {import('./client.js').Result} Result */

/** @param {Board} board @returns {HTMLElement} */
export function drawResult(board) {
  const { game: { result, ruleset }, me, module, name } = board;
  if (!result) return h('section', { class: 'result', 'aria-labelledby': 'outcome' }, h('h2', { id: 'outcome' }, t('cancelled')));
  const verdict = module.verdict?.(result.breakdown, result.winners.map(name), me !== null);
  return h('section', { class: 'result', 'aria-labelledby': 'outcome' },
    h('h2', { id: 'outcome' }, verdict?.heading ?? outcome(board, result)),
    h('p', { class: 'soft' }, [verdict?.how ?? t(`best.${result.best}`), tie(board, result)].filter(Boolean).join(' ')),
    drawRanks(board, result),
    h('p', { id: 'scoring', class: 'soft' }, t(`scoring.${ruleset}`)),
    drawScores(board, result));
}

/** @param {Board} board @param {Result} result */
function outcome({ me, name }, result) {
  const { winners } = result;
  if (me !== null && winners.includes(me)) return t(winners.length > 1 ? 'you_share' : 'you_win');
  return t('wins', { n: winners.length, names: joined(winners.map(name)) });
}

/** The seats with the best score. @param {Result} result */
function level({ scores, best }) {
  const first = best === 'lowest' ? Math.min(...scores) : Math.max(...scores);
  return scores.flatMap((score, seat) => (score === first ? [seat] : []));
}

/** @param {Board} board @param {Result} result */
function tie({ name }, result) {
  return result.tie_break && t(`tie.${result.tie_break}`, { names: joined(level(result).map(name)) });
}

/** @param {Board} board @param {Result} result */
function drawRanks({ game, module, name, title }, result) {
  const seats = game.seats.map(({ seat }) => seat).sort((a, b) => result.ranks[a] - result.ranks[b]);
  const tied = result.tie_break ? level(result) : [];
  return h('ol', { class: 'places' }, ...seats.map((seat) =>
    h('li', { class: result.winners.includes(seat) ? 'first' : '' },
      result.winners.length > 0 && h('b', { class: 'rank' }, t('rank', { n: result.ranks[seat] })),
      h('span', { class: 'who' }, name(seat)),
      tied.includes(seat) && h('small', { class: 'tied' }, module.tied?.(result.breakdown, seat, { title })),
      h('span', { class: 'score' }, t('points', { n: result.scores[seat] })))));
}

/** @param {Board} board @param {Result} result */
function drawScores({ game, module, name, title }, result) {
  const row = (/** @type {import('./games.js').ScoreRow} */ { head, cells }) =>
    h('tr', {}, h('th', { scope: 'row' }, ...head), ...cells.map(({ points, how, isGood }) =>
      h('td', { class: isGood ? 'good' : '' }, h('b', {}, points), how && h('small', {}, how))));
  const total = h('tr', {}, h('th', { scope: 'row' }, t('total')), ...result.scores.map((score) => h('td', {}, h('b', {}, score))));
  return h('div', { class: 'scroll', 'data-key': 'scores', 'data-scroll': 'scores', tabindex: 0, role: 'region', 'aria-label': t('made_of') },
    h('table', {},
      h('caption', {}, t('made_of')),
      h('thead', {}, h('tr', {}, h('td', {}), ...game.seats.map(({ seat }) => h('th', { scope: 'col' }, name(seat))))),
      h('tbody', {}, ...module.score(result.breakdown, { title }).map(row)),
      h('tfoot', {}, total)));
}
