// The table of Mit List und Tücke.

import { chip, lyingCard, suit } from './cards.js';
import { h, picture } from './dom.js';
import { joined, t } from './texts.js';

/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {Schemas['MitListTable']} Table */
/** @typedef {Schemas['MitListColor']} Color */
/** @typedef {import('./games.js').View<Table>} View */
/** @typedef {Extract<import('./client.js').GameEvent, {type: 'cards_taken'}>} CardsTaken */

const COLORS = /** @type {const} */ (['red', 'yellow', 'blue', 'green']);
const COLORS_IN_A_TRICK = 3;
const HAND_SIZE = 14;
/** A complete trick and a finished round are looked at for longer. @type {Record<string, number>} */
const PAUSES = { trick_completed: 1200, round_scored: 3000 };

/** @param {string} card */
const colorOf = (card) => /** @type {Color} */ (card.split('-')[0]);
/** @param {string} card */
const valueOf = (card) => Number(card.split('-')[1]);
/** @param {Color} a @param {Color} b */
const byColor = (a, b) => COLORS.indexOf(a) - COLORS.indexOf(b);
/** @param {string} a @param {string} b */
const byCard = (a, b) => byColor(colorOf(a), colorOf(b)) || valueOf(a) - valueOf(b);

/** @type {import('./games.js').GameModule<'mit-list-und-tuecke'>} */
export const mitList = {
  seats: 4,
  art: [['red-12', 'yellow-3', 'blue-14', 'green-1', 'red-7']],

  fold(table, event, me) {
    if (event.type === 'round_started') {
      layOutRound(table, event);
    } else if (event.type === 'card_played') {
      table.trick.push({ seat: event.seat, card: event.card });
      table.led_color ??= colorOf(event.card);
      table.hand_sizes[event.seat] -= 1;
      if (event.seat === me) table.hand = (table.hand ?? []).filter((card) => card !== event.card);
    } else if (event.type === 'trick_completed') {
      Object.assign(table, { phase: 'take', high: event.high, low: event.low });
    } else if (event.type === 'cards_taken') {
      take(table, event);
    } else if (event.type === 'colors_kept') {
      keep(table, event.seat, event.colors);
    } else if (event.type === 'round_scored') {
      table.round_scores.push(event.scores);
      table.standing = table.standing.map((points, seat) => points + event.scores[seat]);
      if (event.round === table.rounds) table.phase = 'finished';
    }
  },

  pause: (event) => PAUSES[event.type],

  taken: (event) => (event.type === 'cards_taken' ? event.cards : []),

  parts: (move) => (move.type === 'play' ? [move.card] : move.type === 'take' ? move.cards : move.type === 'keep' ? move.colors : []),

  attempt(table, parts) {
    const last = parts[parts.length - 1];
    if (COLORS.some((color) => color === last)) return { type: 'keep', colors: /** @type {Color[]} */ (parts) };
    return table.trick.some(({ card }) => card === last) ? { type: 'take', cards: parts } : { type: 'play', card: last };
  },

  facts: (table) => [
    t('mit-list.round', { round: table.round, rounds: table.rounds }),
    t('mit-list.trick', { trick: Math.min(HAND_SIZE, table.tricks_played + 1), tricks: HAND_SIZE }),
  ],

  table(view) {
    const { table, me } = view;
    const rounds = table.round_scores.length > 0 && drawRounds(view);
    if (me === null) return [drawTrick(view), rounds && h('div', { class: 'below' }, rounds)];
    const piles = drawPiles(view, me);
    // The trick is gone while I choose among my piles.
    return mustChoose(table, me) ? [piles, rounds] : [drawTrick(view), h('div', { class: 'below' }, piles, rounds)];
  },

  hand: ({ table, button }) => [...(table.hand ?? [])].sort(byCard).map((card) => button(card)),

  seat({ table, title }, seat) {
    const chips = table.piles[seat].map((pile) =>
      chip(suit(pile.color), pile.color, pile.cards ? `× ${pile.cards.length}` : valueOf(pile.top), tellPile(pile, title), table.kept[seat].length ? 'top lead' : 'top'));
    const { any, size } = table.face_down[seat];
    const back = picture('0 0 100 100', '<path d="M18 2h64v96H18Z"/>');
    return { hold: t('cards_in_hand', { n: table.hand_sizes[seat] }), chips: [...chips, any && chip(back, 'soft', size === null ? '' : `× ${size}`, tellFaceDown(size), 'top')] };
  },

  explain({ table, me, title, name }, move, preview) {
    const cards = this.parts(move).map(title);
    const marks = Object.fromEntries(this.parts(move).map((part) => [part, 'keeps']));
    if (move.type === 'keep') return { says: t('mit-list.would_keep', { colors: joined(cards) }), marks };
    if (move.type === 'take') {
      const [taken, rest] = [true, false].map((isTaken) => table.trick.filter(({ card }) => move.cards.includes(card) === isTaken).map(({ card }) => title(card)));
      const values = { cards: joined(taken), rest: joined(rest), name: name(table.low ?? table.leader) };
      return { says: t(table.low === null ? 'mit-list.would_discard' : 'mit-list.would_take', values), marks };
    }
    if (move.type !== 'play' || preview?.type !== 'mit_list_und_tuecke_play' || me === null) return { says: cards.join(), marks: {} };
    const values = { card: cards[0], color: title(preview.led_color) };
    if (!table.trick.length) return { says: t('mit-list.would_lead', values), marks: {}, ghost: move.card };
    const isComplete = preview.high !== null;
    const { high, low } = isComplete ? preview : standing([...table.trick, { seat: me, card: move.card }]);
    const who = { card: cards[0], high: name(high ?? me), low: name(low ?? me) };
    const says = low === null ? t(isComplete ? 'mit-list.would_be_one_color' : 'mit-list.one_color_so_far', who) : t(isComplete ? 'mit-list.would_complete' : 'mit-list.so_far', who);
    return { says, marks: {}, ghost: move.card };
  },

  tell(event, { title, name }) {
    if (event.type === 'round_started') return t('mit-list.round_started', { round: event.round, dealer: name(event.dealer), leader: name(event.leader) });
    if (event.type === 'card_played') return t('mit-list.card_played', { card: title(event.card) });
    if (event.type === 'trick_completed') return event.low === null ? t('mit-list.trick_of_one_color', { high: name(event.high) }) : t('mit-list.trick_completed', { high: name(event.high), low: name(event.low) });
    if (event.type === 'cards_taken') return t(event.seat === null ? 'mit-list.cards_discarded' : 'mit-list.cards_taken', { cards: joined(event.cards.map(title)) });
    if (event.type === 'colors_kept') return t('mit-list.colors_kept', { colors: joined(event.colors.map(title)) });
    if (event.type !== 'round_scored') return '';
    const points = event.scores.map((score, seat) => `${name(seat)} ${score}`);
    return t(event.early ? 'mit-list.round_ended_early' : 'mit-list.round_scored', { round: event.round, points: joined(points) });
  },

  score: (breakdown) => breakdown.rounds.map((seats, index) => ({
    head: [t('mit-list.round_n', { round: index + 1 })],
    cells: seats.map(({ largest, second, rest, points }) => ({
      points,
      how: [largest, '×', second, ...(rest ? ['÷', rest] : [])].join('\u00a0'),
      isGood: points > 0 && points === Math.max(...seats.map((seat) => seat.points)),
    })),
  })),
};

// --- What events change -------------------------------------------------------------------

/** New hands, and nothing before anyone. @param {Table} table @param {Extract<import('./client.js').GameEvent, {type: 'round_started'}>} event */
function layOutRound(table, { round, dealer, leader, hand }) {
  const size = table.face_down[0].size === null ? null : 0;
  Object.assign(table, {
    phase: 'play', round, dealer, leader, hand, trick: [], led_color: null, tricks_played: 0,
    hand_sizes: table.hand_sizes.map(() => HAND_SIZE),
    piles: table.piles.map(() => []),
    face_down: table.face_down.map(() => ({ any: false, size })),
    kept: table.kept.map(() => []),
  });
}

/** Cards go from the trick to a seat, or away; after the last of them the trick is over. @param {Table} table @param {CardsTaken} event */
function take(table, { seat, cards }) {
  table.trick = table.trick.filter(({ card }) => !cards.includes(card));
  if (seat !== null) for (const card of cards) receive(table, seat, card);
  if (table.trick.length || table.high === null) return;
  Object.assign(table, { leader: table.low ?? table.high, tricks_played: table.tricks_played + 1, led_color: null, high: null, low: null });
  setPhase(table);
}

/** Lays a card on the pile of its colour, or face down if its colour is not kept. @param {Table} table @param {number} seat @param {string} card */
function receive(table, seat, card) {
  const [color, kept, piles] = [colorOf(card), table.kept[seat], table.piles[seat]];
  if (kept.length && !kept.includes(color)) return turnDown(table, seat, 1);
  const pile = piles.find((each) => each.color === color);
  if (pile) Object.assign(pile, { top: card, cards: pile.cards && [...pile.cards, card] });
  else piles.push({ color, top: card, cards: table.face_down[seat].size === null ? null : [card] });
  piles.sort((a, b) => byColor(a.color, b.color));
}

/** Turns the piles of the other colours face down. @param {Table} table @param {number} seat @param {Color[]} colors */
function keep(table, seat, colors) {
  table.kept[seat] = colors;
  for (const { color, cards } of table.piles[seat]) if (!colors.includes(color)) turnDown(table, seat, cards?.length ?? 0);
  table.piles[seat] = table.piles[seat].filter(({ color }) => colors.includes(color));
  setPhase(table);
}

/** @param {Table} table @param {number} seat @param {number} count */
function turnDown(table, seat, count) {
  const { size } = table.face_down[seat];
  table.face_down[seat] = { any: true, size: size === null ? null : size + count };
}

/** Colours are chosen while a seat has all four face up. @param {Table} table */
function setPhase(table) {
  table.phase = table.piles.some((_, seat) => mustChoose(table, seat)) ? 'keep' : 'play';
}

/** @param {Table} table @param {number} seat */
function mustChoose(table, seat) {
  return table.piles[seat].length === COLORS.length;
}

// --- The rules of a trick -----------------------------------------------------------------

/**
 * Returns the seat that has the highest card of the led colour, and the one that has the lowest of
 * the others, so far. The service tells both only of a complete trick.
 *
 * @param {Table['trick']} trick
 * @returns {{high: number | null, low: number | null}}
 */
function standing(trick) {
  const led = trick.length ? colorOf(trick[0].card) : null;
  const first = (/** @type {Table['trick']} */ cards) => cards[0]?.seat ?? null;
  const ofLed = trick.filter(({ card }) => colorOf(card) === led).sort((a, b) => valueOf(b.card) - valueOf(a.card));
  const others = trick.filter(({ card }) => colorOf(card) !== led).sort((a, b) => valueOf(a.card) - valueOf(b.card));
  return { high: first(ofLed), low: first(others) };
}

// --- How it looks -------------------------------------------------------------------------

/** The trick in the order of play, with a place for each card that is still to come. @param {View} view */
function drawTrick({ table, me, title, name, button }) {
  const seats = table.hand_sizes.map((_, at) => (table.leader + at) % table.hand_sizes.length);
  const isComplete = table.high !== null;
  const { high, low } = isComplete ? table : standing(table.trick);
  const next = table.phase === 'play' ? seats.find((seat) => !table.trick.some((played) => played.seat === seat)) : undefined;
  const places = seats.map((seat) => {
    const card = table.trick.find((played) => played.seat === seat)?.card;
    const mark = !card ? '' : seat === high ? 'high' : seat === low ? 'low' : '';
    return h('li', { class: `${mark} ${isComplete ? 'sure' : ''}` },
      !card ? h('span', { class: 'card slot', 'data-ghost': seat === me && seat === next }) : isComplete && high === me ? button(card) : lyingCard(card, title(card)),
      h('span', { class: 'by', title: name(seat) }, name(seat)),
      h('small', { class: 'mark' }, mark ? t(`mit-list.mark_${mark}`) : seat === next && !table.trick.length ? t('mit-list.leads') : ''));
  });
  return h('div', {},
    h('ol', { class: 'trick', 'aria-label': t('mit-list.the_trick'), style: { '--seats': seats.length } }, ...places),
    h('p', { class: 'led' }, ...tellColors(table, title)));
}

/** Tells the led colour, and which colours may follow. @param {Table} table @param {View['title']} title */
function tellColors({ led_color: led, trick }, title) {
  if (!led) return [t('mit-list.nothing_led')];
  const colors = COLORS.filter((color) => trick.some(({ card }) => colorOf(card) === color));
  const isFull = colors.length === COLORS_IN_A_TRICK;
  return [chip(suit(led), led, title(led), t('mit-list.led', { color: title(led) }), 'lead'),
    isFull ? t('mit-list.three_colors', { colors: joined(colors.map(title)) }) : t('mit-list.led_short')];
}

/** My piles: cards to see, or to choose two colours from. @param {View} view @param {number} me */
function drawPiles({ table, title, button }, me) {
  const piles = table.piles[me];
  const isChoosing = mustChoose(table, me);
  const { any, size } = table.face_down[me];
  const places = piles.map((pile) => {
    const says = tellPile(pile, title);
    return h('li', {}, isChoosing ? button(pile.color, pile.top, says) : lyingCard(pile.top, says),
      h('small', { 'aria-hidden': true }, pile.cards ? `× ${pile.cards.length}` : table.kept[me].length ? t('mit-list.kept') : ''));
  });
  const down = any && h('li', {}, h('span', { class: 'card', role: 'img', 'aria-label': tellFaceDown(size), title: tellFaceDown(size) }, h('span', { class: 'back', 'aria-hidden': true })), h('small', { 'aria-hidden': true }, size === null ? t('mit-list.down') : `× ${size}`));
  return h('section', { class: `piles${isChoosing ? ' choice' : ''}`, 'aria-label': t('mit-list.my_piles') },
    h('h2', {}, t('mit-list.my_piles')),
    piles.length || any ? h('ul', {}, ...places, down) : h('p', { class: 'soft' }, t('mit-list.no_piles')));
}

/** @param {View} view */
function drawRounds({ table, name }) {
  return h('div', { class: 'scroll', 'data-key': 'rounds', 'data-scroll': 'rounds', tabindex: 0, role: 'region', 'aria-label': t('mit-list.rounds') },
    h('table', {},
      h('thead', {}, h('tr', {}, h('td', {}), ...table.standing.map((_, seat) => h('th', { scope: 'col', title: name(seat) }, name(seat))))),
      h('tbody', {}, ...table.round_scores.map((scores, index) => h('tr', {}, h('th', { scope: 'row' }, t('mit-list.round_n', { round: index + 1 })), ...scores.map((score) => h('td', {}, score))))),
      h('tfoot', {}, h('tr', {}, h('th', { scope: 'row' }, t('total')), ...table.standing.map((points) => h('td', {}, h('b', {}, points)))))));
}

/** @param {Schemas['MitListPile']} pile @param {View['title']} title */
function tellPile({ color, top, cards }, title) {
  const values = { color: title(color), top: title(top) };
  return cards ? t('mit-list.open_pile', { ...values, n: cards.length }) : t('mit-list.pile', values);
}

/** @param {number | null} size */
const tellFaceDown = (size) => (size === null ? t('mit-list.face_down') : t('mit-list.face_down_n', { n: size }));
