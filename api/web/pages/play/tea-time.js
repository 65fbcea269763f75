// The table of Tea Time.

import { character, chip, colorOf } from './cards.js';
import { h } from './dom.js';
import { joined, t } from './texts.js';

/** @typedef {import('./client.js').Schemas} Schemas */

const CHARACTERS = /** @type {const} */ (['hatter', 'cat', 'rabbit', 'caterpillar', 'queen', 'dodo']);

/** @param {string} card */
const nameOf = (card) => card.split('-')[0];

/** @type {import('./games.js').GameModule<'tea-time'>} */
export const teaTime = {
  seats: 2,
  art: [
    ['cat-mirror', 'queen-normal', 'dodo-mirror', 'hatter-normal', 'rabbit-mirror'],
    ['rabbit-normal', 'caterpillar-mirror', 'alice', 'cat-mirror', 'queen-normal'],
  ],

  fold(table, event) {
    if (event.type === 'grid_laid') {
      Object.assign(table, { round: event.round, grid: event.grid, pile_size: event.pile_size });
    } else if (event.type === 'cards_picked') {
      for (const cell of table.grid.flat()) if (event.cells.includes(cell.cell)) cell.card = null;
      const owned = [...table.collections[event.seat], ...event.cards.filter((card) => card !== 'alice')];
      for (const card of event.cancelled) owned.splice(owned.indexOf(card), 1);
      table.collections[event.seat] = owned;
      if (event.cards.includes('alice')) table.alice_holder = event.seat;
    } else if (event.type === 'alice_laid') {
      for (const cell of table.grid.flat()) if (cell.cell === event.cell) cell.card = 'alice';
      table.alice_holder = null;
    }
  },

  taken: (event) => (event.type === 'cards_picked' ? event.cells : []),

  parts: (move) => (move.type === 'pick' ? move.cells : []),

  attempt: (_, cells) => ({ type: 'pick', cells }),

  facts(table) {
    return [t('tea-time.round', { round: table.round, rounds: table.rounds }), t('tea-time.left', { n: table.pile_size })];
  },

  table({ table, button, title }) {
    const cells = table.grid.map((row) =>
      h('div', { class: 'row' }, ...row.map(({ cell, card }) =>
        card ? button(cell, card, `${title(card)}, ${cell}`) : h('span', { class: 'card slot', 'aria-hidden': true }))));
    const size = { '--columns': table.grid[0].length };
    return [h('div', { class: 'grid', role: 'group', 'aria-label': t('tea-time.grid'), style: size }, ...cells)];
  },

  hand: () => [],

  seat({ table, title }, seat) {
    const chips = CHARACTERS.map((name) => {
      const cards = table.collections[seat].filter((card) => nameOf(card) === name);
      return cards.length > 0 && chip(character(name), colorOf(name), cards.length, `${cards.length} × ${title(cards[0])}`, cards[0].endsWith('mirror') ? 'lead' : '');
    });
    const alice = table.alice_holder === seat && chip(character('alice'), 'accent', 1, title('alice'));
    return { hold: '', chips: [...chips, alice] };
  },

  explain({ table, title }, move, preview, beside) {
    const cells = this.parts(move);
    const cards = cells.map((cell) => table.grid.flat().find((each) => each.cell === cell)?.card ?? '');
    const known = preview?.type === 'tea_time_pick' ? preview : null;
    const cancelled = known?.cancelled ?? [];
    const kept = known?.cards ?? [];
    const have = CHARACTERS.flatMap((name) => {
      const same = kept.filter((card) => nameOf(card) === name);
      return same.length ? [`${same.length} × ${title(same[0])}`] : [];
    });
    const parts = [t('tea-time.would_take', { cards: joined(cards.map(title)) })];
    if (cancelled.length) parts.push(t('tea-time.would_cancel', { cards: joined(cancelled.map(title)) }));
    if (have.length) parts.push(t('tea-time.would_have', { cards: joined(have) }));
    if (beside.length) parts.push(t('tea-time.could_add', { cells: [...beside].sort().join(', ') }));
    const gone = [...cancelled];
    const marks = (known ? cells : []).map((cell, index) => {
      const at = gone.indexOf(/** @type {any} */ (cards[index]));
      if (at >= 0) gone.splice(at, 1);
      return [cell, at >= 0 ? 'leaves' : 'keeps'];
    });
    return { says: parts.join(' '), isCostly: cancelled.length > 0, marks: Object.fromEntries([...marks, ...beside.map((cell) => [cell, 'joins'])]) };
  },

  tell(event, { title }) {
    if (event.type === 'grid_laid') return t('tea-time.grid_laid', { round: event.round });
    if (event.type === 'alice_laid') return t('tea-time.alice_laid', { cell: event.cell });
    if (event.type !== 'cards_picked') return '';
    const took = t('tea-time.cards_picked', { cards: joined(event.cards.map(title)) });
    return event.cancelled.length ? `${took} ${t('tea-time.cancelled', { cards: joined(event.cancelled.map(title)) })}` : took;
  },

  score(breakdown, { title }) {
    const rows = CHARACTERS.map((name, index) => ({
      head: [chip(character(name), colorOf(name), 0, title(name), 'bare'), title(name)],
      cells: breakdown.seats.map((seat) => seat.characters[index]).map((of) => ({ points: of.points, how: t('cards', { n: of.cards }), isGood: of.points >= 10 })),
    }));
    const alice = breakdown.seats.map((seat) => ({ points: seat.alice, how: '', isGood: seat.alice > 0 }));
    return [...rows, { head: [chip(character('alice'), 'accent', 0, title('alice'), 'bare'), title('alice')], cells: alice }];
  },

  tied: (breakdown, seat, { title }) => (breakdown.seats[seat].alice ? title('alice') : ''),
};
