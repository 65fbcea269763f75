// The seats of a table: who sits there, is present, is to move, and what lies before them.

import { h } from './dom.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./table.js').TablePage} TablePage */

const PRESENT_SECONDS = 90;

/** What people call a seat: its player, the house, or nobody yet. @param {Game} game @param {number} seat */
export function seatName(game, seat) {
  const { player, house } = game.seats[seat];
  if (player) return player.name;
  if (!house) return t('free_seat');
  const houses = game.seats.filter((each) => each.house && !each.player);
  return houses.length > 1 ? t('house_n', { n: houses.findIndex((each) => each.seat === seat) + 1 }) : t('house');
}

/** @param {TablePage} page */
export function drawSeats(page) {
  return h('ul', { class: 'seats', 'data-scroll': 'seats', 'aria-label': t('seats') }, ...page.game.seats.map((seat) => drawSeat(page, seat)));
}

/** @param {TablePage} page @param {Game['seats'][number]} of */
function drawSeat(page, { seat, player, house }) {
  const { game } = page;
  const shown = page.table ? page.module.seat(page.view(), seat) : { hold: '', chips: [] };
  const isHere = player && !house && Date.parse(page.lastSeen[seat] ?? '') > Date.now() + page.client.clockOffset - 1000 * PRESENT_SECONDS;
  const isNow = page.pace.isBusy ? seat === page.actor : game.to_move.includes(seat);
  const isMe = seat === game.you;
  const points = page.table && t('points', { n: page.table.standing[seat] });
  const state = house && player ? t('house_plays_for') : isMe ? t('you') : isHere ? t('present') : '';
  const name = page.name(seat);
  return h('li', { class: `seat${isNow ? ' now' : ''}${isMe ? ' me' : ''}${isHere ? ' here' : ''}`, 'data-place': `seat-${seat}` },
    h('span', { class: 'disc', 'aria-hidden': true }, house ? '⌂' : [...name][0]),
    h('b', { class: 'who', title: name }, name),
    h('small', { class: 'state' }, state),
    h('small', { class: 'hold' }, [points, shown.hold].filter(Boolean).join(' · ')),
    h('span', { class: 'chips' }, ...[shown.chips].flat(1)));
}
