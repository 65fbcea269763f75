// The state of the page that outlives it: the settings, and a player for each service, in this browser's storage.

/**
 * @typedef {object} Settings
 * @property {string} language
 * @property {string | null} api The address of the service, if the page comes from elsewhere.
 */

/**
 * @typedef {object} Player
 * @property {string | null} token
 * @property {string | null} id
 * @property {string | null} name
 */

const KEY = 'ludotheque';
/** @type {Player} */
const NO_PLAYER = { token: null, id: null, name: null };

/** The key of the player at this page's service. Services below prefixes of one host share a storage. */
let playerKey = '';

/** @param {string} key @returns {Record<string, any>} */
function stored(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}');
  } catch {
    return {}; // the storage is switched off, or holds something else
  }
}

/** @param {string} key @param {Settings | Player} value */
function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The storage is switched off: the page works until it is closed.
  }
}

/** @returns {Settings} */
function storedSettings() {
  const { language = navigator.language.startsWith('fr') ? 'fr' : 'en', api = null } = stored(KEY);
  return { language, api };
}

/** @returns {Player} */
function storedPlayer() {
  const { token = null, id = null, name = null } = stored(playerKey);
  return { token, id, name };
}

/** @type {Settings & Player} */
export const saved = { ...storedSettings(), ...NO_PLAYER };

/** Takes the player that was kept for a service. @param {string} url Without a slash at its end. */
export function usePlayerOf(url) {
  playerKey = `${KEY} ${url}`;
  Object.assign(saved, storedPlayer());
}

/** Changes and keeps some of the settings. @param {Partial<Settings>} change */
export function save(change) {
  Object.assign(saved, change);
  // Another tab may have kept something meanwhile.
  keep(KEY, { ...storedSettings(), ...change });
}

/** Keeps a player for this service. @param {Player} player */
export function savePlayer(player) {
  Object.assign(saved, player);
  keep(playerKey, player);
}

/** Forgets a token that is not valid any more, but no newer one. @param {string} token */
export function forgetToken(token) {
  const kept = storedPlayer();
  if (kept.token === token) keep(playerKey, { ...NO_PLAYER, name: kept.name });
  if (saved.token === token) Object.assign(saved, { token: null, id: null });
}

/** Calls `act` when another tab has become another player. @param {() => void} act */
export function onOtherPlayer(act) {
  addEventListener('storage', ({ key }) => {
    const player = storedPlayer();
    if (key !== playerKey || player.token === saved.token) return;
    Object.assign(saved, player);
    act();
  });
}
