// The table of Contrast: the picture, what each seat has laid, and symbol cards with two ends.

import { front, image, symbol } from './cards.js';
import { drawClock } from './clock.js';
import { h } from './dom.js';
import { joined, t } from './texts.js';

/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {import('./client.js').GameEvent} GameEvent */

/**
 * The table, and what only its events tell: that the laid cards lie open, or are just turned over,
 * and when the countdown ends.
 *
 * @typedef {Schemas['ContrastTable'] & {open?: 'turning' | 'turned', deadline?: string | null}} Table
 */
/** @typedef {import('./games.js').View<Table>} View */
/** @typedef {Pick<View, 'title' | 'name'> & Partial<Pick<View, 'game'>>} Words */
/** @typedef {NonNullable<Table['last_turn']>} Turn */

/** The points that two players need together. */
const GOAL = 22;
/** The seconds of a countdown that no option sets. */
const COUNTDOWN_SECONDS = 3;
/** Cards are laid while I choose: nothing may hold me up. */
const PAUSES = /** @type {Record<string, number>} */ ({
  symbol_chosen: 0, countdown_started: 0, symbols_revealed: 2600, rows_refreshed: 500, picture_shown: 500,
});

/** The symbols at the ends of a card. @param {string} card */
const endsOf = (card) => card.split('-');

/** @type {import('./games.js').GameModule<'contrast', Table>} */
export const contrast = {
  seats: 4,
  art: [['picture-1', 'picture-17', 'picture-59'], ['big', 'red', 'round', 'thin', 'heavy']],

  fold(table, event, me) {
    if (event.type === 'picture_shown') {
      Object.assign(table, { picture: event.picture, pile_size: event.pile_size, open: undefined });
    } else if (event.type === 'symbol_chosen') {
      table.has_chosen[event.seat] = true;
      if (event.seat === me) table.choice = event.symbol;
    } else if (event.type === 'countdown_started') {
      Object.assign(table, { countdown: { by: event.by, missing: event.missing }, deadline: event.deadline });
    } else if (event.type === 'symbols_revealed') {
      const scores = table.scores.map((score, seat) => score + event.won[seat]);
      const { choices, winning_symbol, counted_out, pile_size, box_size } = event;
      const last_turn = { choices, winning_symbol, counted_out };
      const has_chosen = table.has_chosen.map(() => false);
      Object.assign(table, { last_turn, scores, standing: scores, pile_size, box_size, has_chosen, countdown: null, open: 'turning' });
    } else if (event.type === 'rows_refreshed') {
      Object.assign(table, { rows: event.rows, hands: event.hands, choice: null, open: 'turned' });
    }
  },

  taken: () => [],

  pause: (event) => PAUSES[event.type],

  isUrgent: (event, me) => event.type === 'countdown_started' && event.missing === me,

  parts: (move) => (move.type === 'choose' ? [move.symbol] : []),

  attempt: (_, parts) => ({ type: 'choose', symbol: /** @type {any} */ (parts.at(-1)) }),

  facts(table) {
    const piles = [t('contrast.left', { n: table.pile_size }), t('contrast.box', { n: table.box_size })];
    return table.scores.length === 2 ? [t('contrast.together_of', { points: table.scores[0], goal: GOAL }), ...piles] : piles;
  },

  table(view) {
    return [h('div', { class: 'showing' }, drawPicture(view), h('div', { class: 'grow' }, drawGoal(view), drawNews(view), drawLaid(view)))];
  },

  hand({ table, me, title, button }) {
    if (me === null) return [];
    const draw = (/** @type {string} */ card) => h('div', { class: 'duo', role: 'group', 'aria-label': titles(card, title) },
      ...endsOf(card).map((end) => {
        const half = button(end);
        if (end === table.choice) half.classList.add('put');
        return half;
      }));
    const row = h('div', { class: 'row', role: 'group', 'aria-label': t('contrast.my_row') },
      h('small', { 'aria-hidden': true }, t('contrast.my_row')), ...table.rows[me].map(draw));
    return [...table.hands[me].map(draw), row];
  },

  seat({ table, title }, seat) {
    const row = table.rows[seat];
    const label = t('contrast.in_row', { cards: joined(row.map((card) => titles(card, title))) });
    const cards = row.map((card) => h('span', { class: 'mini', 'aria-hidden': true }, ...endsOf(card).map(tile)));
    return { hold: '', chips: [h('span', { class: 'minis', title: label }, ...cards, h('span', { class: 'unseen' }, label))] };
  },

  explain({ table, me, title, name }, move) {
    if (move.type !== 'choose') return { says: '', marks: {} };
    const others = table.hands.length - 1;
    const holders = table.hands.flatMap((cards, seat) => (seat !== me && cards.some((card) => endsOf(card).includes(move.symbol)) ? [name(seat)] : []));
    const values = { symbol: title(move.symbol), n: holders.length, names: joined(holders) };
    const text = !holders.length ? 'contrast.nobody_holds' : holders.length === others && others > 1 ? 'contrast.all_hold' : 'contrast.others_hold';
    return { says: t(text, values), isCostly: !holders.length, marks: {} };
  },

  tell(event, words) {
    const { title, name } = words;
    if (event.type === 'picture_shown') return t('contrast.picture_shown', { seen: seen(event.picture, title) });
    // The house lays at once: only the cards of people are news.
    if (event.type === 'symbol_chosen' && words.game?.seats[event.seat].house) return '';
    if (event.type === 'symbol_chosen') return event.symbol ? t('contrast.symbol_chosen_mine', { symbol: title(event.symbol) }) : t('contrast.symbol_chosen');
    if (event.type === 'countdown_started') return t('contrast.counts', { by: name(event.by), missing: name(event.missing) });
    if (event.type !== 'symbols_revealed') return '';
    const each = event.choices.map(({ seat, symbol: chosen }) => t('contrast.chose', { name: name(seat), symbol: title(chosen) }));
    return [...each, outcome(event, event.won.length, words)].join(' ');
  },

  score({ pictures, points, goal }) {
    if (pictures) {
      const most = Math.max(...pictures);
      return [{ head: [t('contrast.pictures')], cells: pictures.map((n) => ({ points: n, how: '', isGood: n === most })) }];
    }
    const together = { points: points ?? 0, how: '', isGood: (points ?? 0) >= (goal ?? GOAL) };
    return [{ head: [t('contrast.together')], cells: [together, together] }];
  },

  verdict({ points, goal }, names, isMine) {
    if (points === null || goal === null) return null;
    const heading = !names.length ? 'contrast.lost' : isMine ? 'contrast.reached' : 'contrast.reached_by';
    return { heading: t(heading, { points, goal, names: joined(names) }), how: t('contrast.target', { goal }) };
  },
};

/** @param {string} card @param {View['title']} title */
const titles = (card, title) => endsOf(card).map(title).join(' / ');

/** A symbol in its colours. @param {string} name */
const tile = (name) => h('span', { class: 'tile', 'data-symbol': name }, symbol(name));

/** What a picture shows, without the words of the game; a picture of somebody else has only its name. @param {string} picture @param {View['title']} title */
function seen(picture, title) {
  const key = `contrast.seen.${picture}`;
  const text = t(`contrast.seen.${picture}`);
  return text === key ? title(picture) : text;
}

/** @param {View} view */
function drawPicture({ table: { picture, pile_size }, title, pictureOf }) {
  if (!picture) return null;
  const url = pictureOf(picture);
  const alt = t('contrast.picture', { title: title(picture), seen: seen(picture, title) });
  // A picture from elsewhere is opened only if the visitor wants it.
  const named = picture.startsWith('https://') ? h('a', { 'data-key': 'picture', href: picture, target: '_blank', rel: 'noopener noreferrer' }, picture) : title(picture);
  const name = `shown${pile_size > 1 ? ' pile' : ''}`;
  return url ? image(url, alt, { class: name }) : h('div', { class: `${name} named` }, named);
}

/** How far two players have come together. @param {View} view */
function drawGoal({ table: { scores } }) {
  const text = t('contrast.together_of', { points: scores[0], goal: GOAL });
  return scores.length === 2 && h('progress', { max: GOAL, value: scores[0], 'aria-label': text, title: text });
}

/** Whether the laid cards lie open: they are just turned over, or were the last ones. @param {Table} table */
const isOpen = ({ open, phase }) => Boolean(open) || phase === 'finished';

/** What has just happened: a countdown, what the cards say, or how the turn before ended. @param {View} view */
function drawNews({ table, me, game, title, name, action }) {
  const count = game.legal_moves.find(({ type }) => type === 'count');
  const { countdown, last_turn } = table;
  if (countdown) {
    const values = { by: name(countdown.by), missing: name(countdown.missing) };
    const turn_seconds = ('countdown_seconds' in game.options && game.options.countdown_seconds) || COUNTDOWN_SECONDS;
    return h('p', { class: 'news urgent' }, t(countdown.missing === me ? 'contrast.counts_you' : 'contrast.counts', values),
      drawClock({ deadline: table.deadline ?? game.deadline, turn_seconds }));
  }
  const text = last_turn && outcome(last_turn, table.rows.length, { title, name });
  if (isOpen(table)) return h('div', { class: 'news now' }, last_turn?.winning_symbol && tile(last_turn.winning_symbol), h('p', {}, text));
  return h('div', { class: 'news soft' }, h('p', {}, text && t('contrast.last', { text })), count && action(count));
}

/** How a turn came out. @param {Turn} turn @param {number} seats @param {Words} words */
function outcome({ choices, winning_symbol, counted_out }, seats, { title, name }) {
  const out = counted_out === null ? [] : [t('contrast.counted_out', { name: name(counted_out) })];
  const isSame = choices.every((each) => each.symbol === choices[0].symbol);
  const values = { symbol: title(choices[0].symbol) };
  if (seats === 2) return t(isSame ? 'contrast.point' : 'contrast.differ', values);
  if (!winning_symbol) return [...out, t(isSame ? 'contrast.all_same' : 'contrast.none', values)].join(' ');
  const names = choices.filter((each) => each.symbol === winning_symbol).map(({ seat }) => name(seat));
  return [...out, t('contrast.won', { symbol: title(winning_symbol), names: joined(names) })].join(' ');
}

/** The laid cards, by seat. @param {View} view */
function drawLaid({ table, me, title, name }) {
  const { last_turn, has_chosen } = table;
  const open = isOpen(table);
  return h('ul', { class: 'laid', 'aria-label': t('contrast.laid') }, ...has_chosen.map((hasChosen, seat) => {
    const last = last_turn?.choices.find((each) => each.seat === seat)?.symbol;
    const shown = open ? last : seat === me ? table.choice : null;
    const hasWon = last && last === last_turn?.winning_symbol;
    const won = hasWon ? ' won' : '';
    const flip = { 'data-flip': `laid-${seat}` };
    const card = shown
      ? h('span', { class: `card${table.open === 'turning' ? ' turning' : ''}`, ...flip }, front(shown, title(shown)), open && hasWon && h('b', { class: 'plus', 'data-value': '+1' }))
      : hasChosen ? h('span', { class: 'card', ...flip }, h('span', { class: 'back' }, '?')) : h('span', { class: 'card slot' });
    const state = shown ? title(shown) : t(hasChosen ? 'contrast.has_chosen' : 'contrast.has_not_chosen');
    return h('li', { class: open ? won : '' },
      h('span', { 'aria-hidden': true }, card),
      h('span', { class: 'who' }, name(seat)), h('span', { class: 'unseen' }, `: ${state}`),
      !open && last && h('small', { class: `before${won}`, title: t('contrast.last_chose', { symbol: title(last) }) }, tile(last), h('span', { class: 'unseen' }, t('contrast.last_chose', { symbol: title(last) }))));
  }));
}
