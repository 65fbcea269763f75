// The table of Parade.

import { chip, lyingCard, pile, suit } from './cards.js';
import { h } from './dom.js';
import { joined, t } from './texts.js';

/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {import('./games.js').View<Schemas['ParadeTable']>} View */

const COLORS = /** @type {const} */ (['red', 'blue', 'purple', 'green', 'grey', 'orange']);

/** @param {string} card */
const valueOf = (card) => Number(card.split('-')[1]);
/** @param {string[]} cards */
const points = (cards) => cards.reduce((sum, card) => sum + valueOf(card), 0);
/** @param {string} a @param {string} b */
const byColor = (a, b) => COLORS.findIndex((c) => a.startsWith(c)) - COLORS.findIndex((c) => b.startsWith(c)) || valueOf(a) - valueOf(b);

/** @type {import('./games.js').GameModule<'parade'>} */
export const parade = {
  seats: 3,
  art: [['green-0', 'red-3', 'blue-9', 'purple-10', 'orange-1', 'grey-7']],

  fold(table, event, me) {
    if (event.type === 'card_played') {
      table.parade.push(event.card);
      table.hand_sizes[event.seat] -= 1;
      if (event.seat === me) table.hand = (table.hand ?? []).filter((card) => card !== event.card);
    } else if (event.type === 'cards_collected') {
      table.parade = table.parade.filter((card) => !event.cards.includes(card));
      table.collections[event.seat].push(...event.cards);
    } else if (event.type === 'card_drawn') {
      table.pile_size = event.pile_size;
      table.hand_sizes[event.seat] += 1;
      if (event.card) table.hand = [...(table.hand ?? []), event.card];
    } else if (event.type === 'last_round_started') {
      table.last_turns_left = table.hand_sizes.length;
    } else if (event.type === 'cards_discarded') {
      table.has_discarded[event.seat] = true;
      table.hand_sizes[event.seat] -= 2;
      if (event.cards) table.hand = (table.hand ?? []).filter((card) => !event.cards?.includes(card));
    } else if (event.type === 'hands_laid_down') {
      event.cards.forEach((cards, seat) => table.collections[seat].push(...cards));
      table.hand_sizes = table.hand_sizes.map(() => 0);
      if (table.hand) table.hand = [];
    }
  },

  pause: (event) => (event.type === 'card_drawn' ? 250 : undefined),

  taken: (event) => (event.type === 'cards_collected' ? event.cards : []),

  parts: (move) => (move.type === 'play' ? [move.card] : move.type === 'discard' ? move.cards : []),

  attempt: (table, parts) => (table.phase === 'discard' ? { type: 'discard', cards: parts } : { type: 'play', card: parts.slice(-1)[0] }),

  facts(table) {
    const facts = [t('parade.left', { n: table.pile_size })];
    if (table.phase === 'discard') facts.push(t('parade.discard'));
    else if (table.last_turns_left) facts.push(t('parade.last_round', { n: table.last_turns_left }));
    return facts;
  },

  table({ table, title }) {
    const cards = table.parade.map((card) => lyingCard(card, title(card)));
    const row = h('div', { class: 'parade', role: 'group', 'aria-label': t('parade.row') }, ...cards, h('span', { class: 'card slot', 'data-ghost': true }));
    const ends = h('div', { class: 'ends', 'aria-hidden': true }, h('span', {}, t('parade.front')), h('span', {}, t('parade.end')));
    return [h('div', { class: 'beside' }, pile(table.pile_size, t('parade.pile')), h('div', { class: 'grow' }, ends, row))];
  },

  hand: ({ table, button }) => [...(table.hand ?? [])].sort(byColor).map((card) => button(card)),

  seat({ table, title }, seat) {
    const most = COLORS.map((color) => Math.max(...table.collections.map((cards) => count(cards, color))));
    const lead = table.collections.length === 2 ? 2 : 1;
    const chips = COLORS.map((color, index) => {
      const mine = count(table.collections[seat], color);
      const others = table.collections.filter((_, other) => other !== seat).map((cards) => count(cards, color));
      const leads = mine > 0 && (lead === 2 ? mine >= Math.max(...others) + 2 : mine === most[index]);
      const cards = table.collections[seat].filter((card) => card.startsWith(color)).sort(byColor).map(title);
      return mine > 0 && chip(suit(color), color, mine, `${joined(cards)}${leads ? `. ${t('parade.majority')}` : ''}`, leads ? 'lead' : '');
    });
    return { hold: t('cards_in_hand', { n: table.hand_sizes[seat] }), chips };
  },

  explain({ title }, move, preview) {
    if (move.type !== 'play') return { says: t('parade.discards', { cards: joined(this.parts(move).map(title)) }), marks: {} };
    if (preview?.type !== 'parade_play') return { says: title(move.card), marks: {}, ghost: move.card };
    const leaving = preview.collected;
    const values = { card: title(move.card), n: leaving.length, cards: joined(leaving.map(title)), points: points(leaving) };
    return {
      says: t(leaving.length ? 'parade.would_collect' : 'parade.would_collect_nothing', values),
      isCostly: leaving.length > 0,
      marks: Object.fromEntries(leaving.map((card) => [card, 'leaves'])),
      ghost: move.card,
    };
  },

  tell(event, { title }) {
    if (event.type === 'card_played') return t('parade.card_played', { card: title(event.card) });
    if (event.type === 'cards_collected') return t('parade.cards_collected', { n: event.cards.length, cards: joined(event.cards.map(title)) });
    if (event.type === 'card_drawn') return event.card ? t('parade.card_drawn', { card: title(event.card) }) : '';
    if (event.type === 'last_round_started') return t(`parade.last_round_started.${event.cause}`);
    if (event.type === 'cards_discarded') return t('parade.cards_discarded');
    if (event.type === 'hands_laid_down') return t('parade.hands_laid_down');
    return '';
  },

  score(breakdown, { title }) {
    return COLORS.map((color, index) => ({
      head: [chip(suit(color), color, 0, title(color), 'bare'), title(color)],
      cells: breakdown.seats.map((seat) => seat.colors[index]).map((of) => ({
        points: of.points,
        how: of.has_majority ? t('parade.turned', { n: of.cards }) : of.cards ? t('cards', { n: of.cards }) : '',
        isGood: of.has_majority,
      })),
    }));
  },

  tied: (breakdown, seat) => t('cards', { n: breakdown.seats[seat].cards }),
};

/** @param {string[]} cards @param {string} color */
function count(cards, color) {
  return cards.filter((card) => card.startsWith(color)).length;
}
