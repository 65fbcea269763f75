// Draws cards: a suit has a symbol as well as a colour, a face of Tea Time a picture and a frame.

import { h, picture } from './dom.js';

const SUITS = /** @type {Record<string, string>} */ ({
  red: 'M50 88C18 62 8 46 8 30 8 16 19 8 30 8c9 0 16 5 20 13C54 13 61 8 70 8c11 0 22 8 22 22 0 16-10 32-42 58Z',
  yellow: 'M50 4l14 30 33 4-24 23 6 33-29-16-29 16 6-33L3 38l33-4Z',
  blue: 'M50 6C66 30 80 46 80 62a30 30 0 0 1-60 0C20 46 34 30 50 6Z',
  purple: 'M8 82 4 26l22 20L50 10l24 36 22-20-4 56Z',
  green: 'M14 88C6 40 34 12 90 10 92 60 66 88 30 80 40 58 52 44 68 32 46 42 30 58 22 88Z',
  grey: 'M64 8a42 42 0 1 0 0 84A50 50 0 0 1 64 8Z',
  orange: 'M50 26a24 24 0 1 1 0 48 24 24 0 0 1 0-48ZM46 2h8v16h-8ZM46 82h8v16h-8ZM2 46h16v8H2ZM82 46h16v8H82ZM13 19l6-6 11 11-6 6ZM70 76l6-6 11 11-6 6ZM13 81l11-11 6 6-11 11ZM70 24l11-11 6 6-11 11Z',
});

/** The pictures of Tea Time, and the colour of each. */
const CHARACTERS = /** @type {Record<string, [string, string]>} */ ({
  hatter: ['purple', '<path d="M26 62 20 14q30-9 60 0l-6 48ZM6 66q44 20 88 0 2 16-20 20H26Q4 82 6 66Z"/><path class="cut" d="M24 46q26 9 52 0l-1 10q-25 8-50 0Z"/><path d="M58 12h24l-3 26-20-3Z" class="cut thin"/>'],
  cat: ['orange', '<path d="M14 10l20 16q16-6 32 0L86 10v42q0 36-36 40Q14 88 14 52Z"/><circle class="cut" cx="35" cy="46" r="7"/><circle class="cut" cx="65" cy="46" r="7"/><path class="cut" d="M24 62q26 16 52 0-6 22-26 22T24 62Z"/><path d="M34 67l2 12M45 70v13M55 70v13M66 67l-2 12" class="line"/>'],
  rabbit: ['grey', '<path d="M28 50Q14 10 27 6q12-2 17 36h12Q61 4 73 6q13 4-1 44 14 12 8 28-8 18-30 18T20 78q-6-16 8-28Z"/><circle class="cut" cx="36" cy="64" r="5"/><circle class="cut" cx="64" cy="64" r="5"/><path class="cut" d="M43 74h14l-7 8ZM46 82h8v9h-8Z"/>'],
  caterpillar: ['green', '<circle cx="18" cy="74" r="15"/><circle cx="40" cy="68" r="16"/><circle cx="61" cy="74" r="16"/><circle cx="72" cy="42" r="22"/><path d="M64 24 56 6M82 24l10-16" class="line own"/><circle cx="55" cy="7" r="5"/><circle cx="92" cy="8" r="5"/><circle class="cut" cx="65" cy="40" r="5"/><circle class="cut" cx="81" cy="40" r="5"/><path class="cut" d="M64 50q9 7 18 0-8 14-18 0Z"/>'],
  queen: ['red', '<path d="M10 40 6 8l22 15L50 4l22 19L94 8l-4 32ZM14 46h72q2 48-36 50Q12 94 14 46Z"/><path class="cut" d="M50 84C32 70 26 62 30 55c5-7 15-5 20 3 5-8 15-10 20-3 4 7-2 15-20 29Z"/><circle class="cut" cx="50" cy="24" r="5"/>'],
  dodo: ['blue', '<path d="M34 8q24-4 26 20 24 4 32 26 4 30-30 36v8H50v-8Q14 86 14 60q2-14 12-22L4 46q-4-16 12-20Q20 10 34 8Z"/><circle class="cut" cx="36" cy="22" r="5"/><path class="cut" d="M50 52q20-4 28 8-14 16-28-8Z"/>'],
  alice: ['accent', '<path d="M50 4q28 0 30 32 0 22 10 34-16 8-22 2l-6 2 16 22H22l16-22-6-2q-6 6-22-2 10-12 10-34Q22 4 50 4Z"/><path class="cut" d="M33 36q17-2 30-14 8 6 4 24-5 14-17 14T33 46Z"/><path class="line" d="M24 22q26-18 52 0"/>'],
});

/** The symbols of Contrast. The four colours have a form too. */
const SYMBOLS = /** @type {Record<string, string>} */ ({
  ...Object.fromEntries(['red', 'yellow', 'blue', 'green'].map((color) => [color, `<path d="${SUITS[color]}"/>`])),
  big: '<path d="M6 6h36v12H27l19 19-9 9-19-19v15H6ZM94 6v36H82V27L63 46l-9-9 19-19H58V6ZM94 94H58V82h15L54 63l9-9 19 19V58h12ZM6 94V58h12v15l19-19 9 9-19 19h15v12Z"/>',
  small: '<path d="M46 46H10V34h15L6 15l9-9 19 19V10h12ZM54 46V10h12v15L85 6l9 9-19 19h15v12ZM54 54h36v12H75l19 19-9 9-19-19v15H54ZM46 54v36H34V75L15 94l-9-9 19-19H10V54Z"/>',
  heavy: '<path fill-rule="evenodd" d="M50 5a19 19 0 0 1 17 27h10l14 56q1 7-5 7H14q-6 0-5-7l14-56h10A19 19 0 0 1 50 5Zm0 11a8 8 0 1 0 .1 0Z"/>',
  light: '<path fill-rule="evenodd" d="M93 5C49 6 20 30 19 65L6 91l7 4 11-19C62 80 90 50 93 5ZM30 64 72 26 36 69Z"/>',
  fat: '<path d="M20 62C20 4 60 30 51 52S80 94 80 38" fill="none" stroke="currentColor" stroke-width="28" stroke-linecap="round"/>',
  thin: '<path d="M20 66C20 8 60 34 51 52S80 92 80 34" fill="none" stroke="currentColor" stroke-width="5" stroke-linecap="round"/>',
  round: '<circle cx="50" cy="50" r="42"/>',
  square: '<path d="M12 12h76v76H12Z"/>',
});

/** @param {string} color */
export const suit = (color) => picture('0 0 100 100', `<path d="${SUITS[color]}"/>`);

/** The colour of a card of any game, as the style sheet names it. @param {string} card */
export const colorOf = (card) => (CHARACTERS[card.split('-')[0]]?.[0] ?? card.split('-')[0]);

/** The picture of a character. @param {string} card */
export const character = (card) => picture('0 0 100 100', CHARACTERS[card.split('-')[0]][1]);

/** A symbol of Contrast. @param {string} name */
export const symbol = (name) => picture('0 0 100 100', SYMBOLS[name]);

/** The picture of a component, as the service has it. @param {string} url @param {string} [alt] @param {Record<string, any>} [more] */
export const image = (url, alt = '', more = {}) => h('img', { src: url, alt, width: 240, height: 240, ...more });

/**
 * Draws the front of a card with a colour and a number, with a character, or with a symbol and its
 * title. It has no text for screen readers: its holder says what it is.
 *
 * @param {string} card @param {string} [title]
 */
export function front(card, title) {
  if (card in SYMBOLS) return h('span', { class: 'front symbol', 'aria-hidden': true, 'data-symbol': card }, symbol(card), title && h('b', { 'data-value': title }));
  const [name, rest] = card.split('-');
  const style = { '--c': `var(--${colorOf(card)})` };
  if (name in CHARACTERS) return h('span', { class: `front face ${rest ?? 'alice'}`, 'aria-hidden': true, style }, character(card), rest === 'mirror' && h('span', { class: 'glint' }));
  return h('span', { class: 'front', 'aria-hidden': true, style }, h('b', { 'data-value': rest }), suit(name), h('b', { 'data-value': rest }));
}

/** A card that lies somewhere and can do nothing. @param {string} card @param {string} title @param {Record<string, any>} [more] */
export function lyingCard(card, title, more = {}) {
  return h('span', { class: 'card', role: 'img', 'aria-label': title, title, 'data-flip': card, ...more }, front(card));
}

/** Cards face down, with their number. @param {number} size @param {string} label */
export function pile(size, label) {
  return h('span', { class: `pile${size ? '' : ' empty'}`, 'data-place': 'pile' }, h('span', { class: 'card' }, h('span', { class: 'back', 'aria-hidden': true }, size)), h('small', {}, label));
}

/**
 * A count of something, beside its symbol. The words are for screen readers.
 *
 * @param {Node} symbol @param {string} color @param {number | string} count @param {string} title @param {string} [more]
 */
export function chip(symbol, color, count, title, more = '') {
  return h('span', { class: `chip ${more}`, style: { '--c': `var(--${color})` }, title }, symbol, h('span', { 'aria-hidden': true }, count), h('span', { class: 'unseen' }, title));
}
