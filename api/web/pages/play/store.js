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

/** @returns {Partial<Saved>} */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}');
  } catch {
    return {}; // the storage is switched off, or holds something else
  }
}

/** @type {Saved} */
export const saved = { token: null, id: null, name: null, language: navigator.language.startsWith('fr') ? 'fr' : 'en', api: null, ...stored() };

/** Changes and keeps some of it. @param {Partial<Saved>} change */
export function save(change) {
  Object.assign(saved, change);
  try {
    // Another tab may have kept something meanwhile.
    localStorage.setItem(KEY, JSON.stringify({ ...saved, ...stored(), ...change }));
  } catch {
    // The storage is switched off: the page works until it is closed.
  }
}

/** Calls `act` when another tab has become another player. @param {() => void} act */
export function onOtherPlayer(act) {
  addEventListener('storage', ({ key }) => {
    const { token = null, id = null, name = null } = stored();
    if (key !== KEY || token === saved.token) return;
    Object.assign(saved, { token, id, name });
    act();
  });
}
