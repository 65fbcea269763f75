// The seats of a table: who sits there, is present, is to move, and what lies before them.

import { h } from './dom.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Game} Game */
/** @typedef {import('./board.js').Board} Board */

const PRESENT_SECONDS = 90;

/** What people call a seat: its player, the house, or nobody yet. @param {Game} game @param {number} seat */
export function seatName(game, seat) {
  const { player, house, reserved_for } = game.seats[seat];
  if (player) return player.name;
  if (!house) return reserved_for ? t('invited_name', { name: reserved_for.name }) : t('free_seat');
  const houses = game.seats.filter((each) => each.house && !each.player);
  return houses.length > 1 ? t('house_n', { n: houses.findIndex((each) => each.seat === seat) + 1 }) : t('house');
}

/** @param {Board} board */
export function drawSeats(board) {
  return h('ul', { class: 'seats', 'data-scroll': 'seats', 'aria-label': t('seats') }, ...board.game.seats.map((seat) => drawSeat(board, seat)));
}

/** @param {Board} board @param {Game['seats'][number]} of */
function drawSeat(board, { seat, player, house }) {
  const { game } = board;
  const shown = board.table ? board.module.seat(board.view(), seat) : { hold: '', chips: [] };
  const isHere = player && !house && Date.parse(board.lastSeen[seat] ?? '') > Date.now() + board.client.clockOffset - 1000 * PRESENT_SECONDS;
  const isNow = board.isNow(seat);
  const isMe = seat === board.me;
  const points = board.table && t('points', { n: board.table.standing[seat] });
  const state = house && player ? t('house_plays_for') : isMe ? t('you') : isHere ? t('present') : '';
  const name = board.name(seat);
  return h('li', { class: `seat${isNow ? ' now' : ''}${isMe ? ' me' : ''}${isHere ? ' here' : ''}`, 'data-place': `seat-${seat}` },
    h('span', { class: 'disc', 'aria-hidden': true }, house ? '⌂' : player ? [...name][0] : '+'),
    h('b', { class: 'who', title: name }, name),
    h('small', { class: 'state' }, state),
    h('small', { class: 'hold' }, [points, shown.hold].filter(Boolean).join(' · ')),
    h('span', { class: 'chips' }, ...[shown.chips].flat(1)));
}
