// The page's own texts. Games, cards, moves and refusals are named by the service, in getRuleset.

import { saved } from './store.js';

/** @typedef {string | [string, string]} Text A text, or one for a single thing and one for more. */
/** @type {Record<string, Text>} */
let texts = {};

export const LANGUAGES = /** @type {const} */ ({ en: 'English', fr: 'Français' });

/** Loads the texts of the chosen language. */
export async function loadTexts() {
  const response = await fetch(new URL(`./${saved.language}.json`, import.meta.url));
  texts = await response.json();
  document.documentElement.lang = saved.language;
}

/**
 * Returns a text. `{name}` in it is replaced; `n` chooses between singular and plural.
 *
 * @param {string} key @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const text = texts[key] ?? key;
  const isOne = new Intl.PluralRules(saved.language).select(Number(values.n)) === 'one';
  const chosen = typeof text === 'string' ? text : text[isOne ? 0 : 1];
  return chosen.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Joins words as a sentence does. @param {string[]} words */
export function joined(words) {
  return new Intl.ListFormat(saved.language, { type: 'conjunction' }).format(words);
}

/** Tells how long something lasts, briefly. @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds >= 48 * 3600) return t('days', { n: Math.round(seconds / 86400) });
  if (seconds >= 3600) return t('hours', { n: Math.round(seconds / 3600) });
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
