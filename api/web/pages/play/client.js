// Talks to the service: one request at a time, repeated as it is until it is answered.

/** @typedef {import('./api.js').components['schemas']} Schemas */
/** @typedef {Schemas['Game']} Game */
/** @typedef {Schemas['GameSummary']} GameSummary */
/** @typedef {Schemas['Ruleset']} Ruleset */
/** @typedef {Schemas['Move']} Move */
/** @typedef {Schemas['Preview']} Preview */
/** @typedef {Schemas['GameEvent']} GameEvent */
/** @typedef {Schemas['HappenedItem']} Item */
/** @typedef {Schemas['Table']} Table */
/** @typedef {Schemas['GameResult']} Result */

const TRY_AGAIN = new Set([429, 502, 503, 504]);
const MOST_SECONDS = 10;
/** An answer that has not come by then does not come any more: the network has changed. */
const ANSWER_SECONDS = 20;
/** A limit that lasts longer than this is told instead of waited for. */
const LONGEST_WAIT = 60;

/** How many answers tell the service's time: enough for a quick one, few enough for a clock that is set anew. */
const TIMED_ANSWERS = 8;

/** A request that the service has refused, with its problem, and the token that was sent. */
export class Refused extends Error {
  /** @param {Schemas['Problem']} problem @param {string | null} token */
  constructor(problem, token) {
    super(problem.detail);
    this.problem = problem;
    this.token = token;
  }
}

/** The service at an address, for one player or for a stranger. */
export class Client {
  /** How many milliseconds the service's clock is ahead of this device's. */
  clockOffset = 0;
  /** @type {{offset: number, took: number}[]} What the latest answers told about it. */
  #timed = [];

  /**
   * @param {string} url
   * @param {{token?: string | null, language?: string, onTrouble?: (text: string | null) => void}} how
   */
  constructor(url, how = {}) {
    this.url = addressOf(url);
    this.token = how.token ?? null;
    this.language = how.language ?? 'en';
    this.onTrouble = how.onTrouble ?? (() => {});
  }

  /** @param {string} path @param {Record<string, string | number | boolean | undefined>} [query] @returns {Promise<any>} */
  get(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    return this.send('GET', given.length ? `${path}?${search}` : path);
  }

  /** @param {string} path @param {object} [body] @returns {Promise<any>} */
  post(path, body) {
    return this.send('POST', path, body);
  }

  /**
   * Sends a request until it is answered. A repeated request must not act twice: moves and seats are
   * safe by themselves, what creates something has a key.
   *
   * @param {string} method @param {string} path @param {object} [body]
   * @returns {Promise<any>}
   */
  async send(method, path, body) {
    /** @type {Record<string, string>} */
    const headers = { 'Accept-Language': this.language };
    const { token } = this;
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers['Content-Type'] = 'application/json';
    if (path === '/v1/games' || path === '/v1/match') headers['Idempotency-Key'] = randomKey();
    const request = { method, headers, body: body && JSON.stringify(body) };
    for (let attempt = 1; ; attempt++) {
      const sentAt = Date.now();
      // A body that breaks off is no answer either.
      const signal = AbortSignal.timeout(1000 * ANSWER_SECONDS);
      const answer = await fetch(this.url + path, { ...request, signal }).then(async (response) => ({ response, text: await response.text() })).catch(() => null);
      const wait = Number(answer?.response.headers.get('Retry-After')) || Math.min(attempt, MOST_SECONDS);
      if (answer && (!TRY_AGAIN.has(answer.response.status) || wait > LONGEST_WAIT)) {
        this.onTrouble(null);
        this.setClock(answer.response.headers.get('Server-Time'), sentAt);
        return this.read(answer.response, answer.text, token);
      }
      this.onTrouble(answer ? 'busy' : 'offline');
      await rest(wait);
    }
  }

  /** Learns the service's time from an answer that has just come. @param {string | null} time @param {number} sentAt */
  setClock(time, sentAt) {
    if (!time) return;
    const now = Date.now();
    const took = now - sentAt;
    // The answer is half of its way old. A slow one may be wrong by the other half: the quickest counts.
    this.#timed = [...this.#timed, { offset: Date.parse(time) + took / 2 - now, took }].slice(-TIMED_ANSWERS);
    this.clockOffset = this.#timed.reduce((best, each) => (each.took < best.took ? each : best)).offset;
  }

  /** @param {Response} response @param {string} text @param {string | null} token */
  read(response, text, token) {
    const isJson = response.headers.get('Content-Type')?.includes('json');
    if (response.ok) return isJson ? JSON.parse(text) : null;
    const { status, statusText: title } = response;
    // A proxy may answer without a problem.
    throw new Refused(isJson ? JSON.parse(text) : { status, title, detail: `${status} ${title}`, code: '', type: 'about:blank' }, token);
  }

  /** The address of a component's picture; null if it has none. @param {Ruleset} ruleset @param {string} name */
  pictureOf(ruleset, name) {
    const url = ruleset.components.find((each) => each.name === name)?.url;
    return url ? this.url + url : null;
  }

  /** The milliseconds until a time of the service. @param {string} deadline */
  until(deadline) {
    return Date.parse(deadline) - Date.now() - this.clockOffset;
  }
}

/** @param {string} url */
const withoutSlash = (url) => url.replace(/\/+$/, '');

/** The address of a service, in one way of writing it. @param {string} url */
const addressOf = (url) => withoutSlash(new URL(url).href);

/** Waits for some seconds, or until the device is online again. @param {number} seconds @returns {Promise<void>} */
function rest(seconds) {
  return new Promise((resolve) => {
    const resume = () => {
      removeEventListener('online', resume);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(resume, 1000 * seconds);
    addEventListener('online', resume);
  });
}

/** A key for a request that creates something (randomUUID is missing on plain HTTP). */
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Tells whether the API is at an address, with one attempt; null if nothing can be reached there now.
 *
 * @param {string} url @returns {Promise<boolean | null>}
 */
export async function isService(url) {
  const signal = AbortSignal.timeout(1000 * ANSWER_SECONDS);
  const response = await fetch(`${withoutSlash(url)}/v1/rulesets`, { signal }).catch(() => null);
  if (!response || TRY_AGAIN.has(response.status)) return null;
  const body = await response.json().catch(() => null);
  return response.ok && Array.isArray(body?.items);
}
