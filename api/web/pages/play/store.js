// The state of the page that outlives it: the player and the settings, in this browser's storage.

/**
 * @typedef {object} Saved
 * @property {string | null} token
 * @property {string | null} id
 * @property {string | null} name
 * @property {string} language
 * @property {string | null} api The address of the service, if the page comes from elsewhere.
 */

const KEY = 'ludotheque';

/** @returns {Saved} */
function load() {
  /** @type {Saved} */
  const fresh = { token: null, id: null, name: null, language: navigator.language.startsWith('fr') ? 'fr' : 'en', api: null };
  try {
    return { ...fresh, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return fresh; // the storage is switched off, or holds something else
  }
}

/** @type {Saved} */
export const saved = load();

/** Changes and keeps some of it. @param {Partial<Saved>} change */
export function save(change) {
  Object.assign(saved, change);
  try {
    localStorage.setItem(KEY, JSON.stringify(saved));
  } catch {
    // The storage is switched off: the page works until it is closed.
  }
}
