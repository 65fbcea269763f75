// "Check the deal": the hash that was shown at the start against the text that is revealed at the end,
// and the first table that was shown against the same position of the record.

import { Refused } from './client.js';
import { announce, h } from './dom.js';
import { saved } from './store.js';
import { t } from './texts.js';

/** @typedef {import('./board.js').Board} Board */
/** @typedef {import('./client.js').Schemas} Schemas */
/** @typedef {Schemas['GameRecord']} GameRecord */
/** @typedef {import('./client.js').Client} Client */
/** @typedef {{version: number, seat: number | null, table: unknown}} Seen The first table that this browser was shown. */
/** @typedef {{sha256: string, at: string, seen?: Seen}} KeptHash */

/**
 * What a check has found. Without `computed` the browser cannot tell.
 *
 * @typedef {object} Found
 * @property {'good' | 'hash_kept' | 'fits' | 'not_played' | 'text_changed' | 'hash_changed' | 'other_deal' | 'cannot'} verdict
 * @property {KeptHash | undefined} kept
 * @property {string | null} computed
 * @property {GameRecord} record
 */

const KEY = 'ludotheque-deals';
const MOST_KEPT = 200;
const REFUSALS = ['illegal_move', 'invalid_deal'];

/** @returns {Record<string, KeptHash>} */
function keptHashes() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}');
  } catch {
    return {}; // the storage is switched off, or holds something else
  }
}

/** Keeps the hash and the table of a game under way; the first ones that were shown are never replaced. @param {import('./client.js').Game} game */
export function keepHash({ id, status, deal_sha256, version, you, table }) {
  const kept = keptHashes();
  if (status !== 'playing' || !deal_sha256 || Object.hasOwn(kept, id)) return;
  const seen = { version, seat: you, table };
  const newest = Object.entries({ ...kept, [id]: { sha256: deal_sha256, at: new Date().toISOString(), seen } }).slice(-MOST_KEPT);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(newest)));
  } catch {
    // The storage is switched off: the check can use only what the service tells afterwards.
  }
}

/** The SHA-256 of a text in hexadecimal; null where the browser has none, on plain HTTP from another host. @param {string} text */
async function sha256(text) {
  // The types do not know that it can be missing.
  const subtle = /** @type {SubtleCrypto | undefined} */ (crypto.subtle);
  if (!subtle) return null;
  const bytes = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** JSON with sorted members, to compare values. @param {unknown} value @returns {string} */
function canonical(value) {
  return JSON.stringify(value, (_, each) => each && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each);
}

/** Whether the text holds the deal of the record, from which the moves were made. @param {GameRecord} record */
function isDealOf({ deal, deal_text }) {
  try {
    const { salt, ...told } = JSON.parse(deal_text);
    return canonical(told) === canonical(deal);
  } catch {
    return false;
  }
}

/** @param {Client} client @param {string} id @param {GameRecord} record @returns {Promise<Found>} */
async function check(client, id, record) {
  const kept = /** @type {KeptHash | undefined} */ (keptHashes()[id]);
  const computed = await sha256(record.deal_text);
  const verdict = judge(record, kept, computed);
  const needsTable = verdict === 'good' || verdict === 'cannot';
  const isOther = needsTable && kept?.seen && !(await isPlayed(client, id, record, kept.seen));
  return { verdict: isOther ? 'not_played' : verdict, kept, computed, record };
}

/** How many moves and ends of countdowns had happened at a version. @param {Client} client @param {string} id @param {number} at @param {string} [since] @returns {Promise<number>} */
async function countMoves(client, id, at, since) {
  const { items, more, cursor } = await client.get(`/v1/games/${id}/events`, { since });
  // Only a move and the end of a countdown have a turn.
  const moves = items.filter((/** @type {import('./client.js').Item} */ { version, turn }) => version <= at && turn !== null).length;
  return moves + (more ? await countMoves(client, id, at, cursor) : 0);
}

/** Whether the record, played again from its deal, leads to the table that was shown. @param {Client} client @param {string} id @param {GameRecord} record @param {Seen} seen */
async function isPlayed(client, id, { ruleset, seat_count, options, deal, moves }, { version, seat, table }) {
  const played = moves.slice(0, await countMoves(client, id, version));
  try {
    /** @type {Schemas['Analysis']} */
    const { spectator, views } = await client.post('/v1/analysis', { ruleset, seat_count, options, deal, moves: played });
    return withoutClock(seat === null ? spectator : views[seat]) === withoutClock(table);
  } catch (error) {
    // A deal and moves that cannot be played did not make this table either.
    if (!(error instanceof Refused) || !REFUSALS.includes(error.problem.code)) throw error;
    return false;
  }
}

/** A table to compare: an analysis has no clock, so it knows no deadline. @param {unknown} table */
const withoutClock = (table) => canonical({ .../** @type {object} */ (table), deadline: null });

/** @param {GameRecord} record @param {KeptHash | undefined} kept @param {string | null} computed @returns {Found['verdict']} */
function judge(record, kept, computed) {
  if (kept && kept.sha256 !== record.deal_sha256) return 'hash_changed';
  if (computed !== null && computed !== record.deal_sha256) return 'text_changed';
  if (!isDealOf(record)) return 'other_deal';
  if (computed === null) return 'cannot';
  if (!kept) return 'fits';
  return kept.seen ? 'good' : 'hash_kept';
}

/** The part of a page that checks the deal of its game. */
export class DealCheck {
  /** @type {Found | null} */
  found = null;
  isOpen = false;

  /** @param {Board} board @param {() => void} onChange */
  constructor(board, onChange) {
    this.board = board;
    this.onChange = onChange;
  }

  async run() {
    const { client, game } = this.board;
    this.found = await check(client, game.id, await client.get(`/v1/games/${game.id}/record`));
    this.onChange();
    announce(t(`deal.${this.found.verdict}`));
  }

  draw() {
    return h('section', { class: 'deal', 'aria-labelledby': 'deal-title' },
      h('h3', { id: 'deal-title' }, t('deal.title')), h('p', { class: 'soft' }, t('deal.why')),
      h('div', { class: 'actions' }, h('button', { type: 'button', id: 'check-deal', 'data-key': 'check-deal', click: () => this.run() }, t('deal.check'))),
      this.found && this.#drawFound(this.found));
  }

  /** @param {Found} found */
  #drawFound({ verdict, kept, computed, record }) {
    const looks = { good: ['good', '✓ '], hash_kept: ['', '✓ '], fits: ['', '✓ '], cannot: ['', ''] };
    const [look, sign] = looks[/** @type {keyof typeof looks} */ (verdict)] ?? ['problem', '✗ '];
    const line = (/** @type {string} */ term, /** @type {string} */ value, how = {}) => [h('dt', {}, term), h('dd', how, h('code', {}, value))];
    const toggle = (/** @type {Event} */ event) => (this.isOpen = /** @type {HTMLDetailsElement} */ (event.target).open);
    return [
      h('p', { id: 'verdict', class: look, 'data-verdict': verdict }, sign + t(`deal.${verdict}`)),
      h('details', { open: this.isOpen, toggle }, h('summary', { 'data-key': 'deal-details' }, t('deal.details')),
        h('dl', {},
          kept && line(t('deal.kept', { time: time(kept.at), start: time(this.board.game.started_at) }), kept.sha256),
          line(t('deal.told'), record.deal_sha256),
          computed && line(t('deal.computed'), computed),
          line(t('deal.text'), record.deal_text, { tabindex: 0 }))),
    ];
  }
}

/** @param {string | null} at */
const time = (at) => (at ? new Date(at).toLocaleString(saved.language) : '');
