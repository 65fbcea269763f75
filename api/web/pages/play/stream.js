// Follows an event stream with a ticket, and shows what happens at a human pace.

const MOST_SECONDS = 30;
const SLEEP_MILLISECONDS = 30_000;

/**
 * Calls `on(name, data)` for each event of a stream, until the function that it returns is called.
 * `newTicket` gets a ticket, or nothing for a stranger, who needs none; a stream that ends is opened again where it stopped.
 *
 * @param {string} url
 * @param {() => Promise<{ticket?: string}>} newTicket
 * @param {string[]} names
 * @param {(name: string, data: any) => void} on
 * @param {string} [since] A cursor: what it includes is not told.
 */
export function follow(url, newTicket, names, on, since) {
  /** @type {EventSource | undefined} */
  let source;
  let lastId = since;
  let seconds = 1;
  let opening = 0;
  let isOver = false;
  /** @type {number | undefined} */
  let timer;

  async function open() {
    if (isOver) return;
    clearTimeout(timer);
    source?.close();
    const mine = ++opening;
    const ticket = await newTicket().catch(() => null);
    if (isOver || mine !== opening) return;
    if (!ticket) return openLater();
    const query = new URLSearchParams();
    if (ticket.ticket) query.set('ticket', ticket.ticket);
    // A new EventSource cannot send the header Last-Event-ID.
    if (lastId) query.set('last_event_id', lastId);
    source = new EventSource(`${url}?${query}`);
    for (const name of names) source.addEventListener(name, receive);
    // The browser connects again by itself, unless the ticket has expired or a proxy has failed.
    const opened = source;
    source.onerror = () => opened.readyState === EventSource.CLOSED && opened === source && openLater();
  }

  /** @param {MessageEvent} event */
  function receive({ type, lastEventId, data }) {
    lastId = lastEventId || lastId;
    seconds = 1;
    on(type, JSON.parse(data));
  }

  function openLater() {
    if (!isOver) timer = setTimeout(open, seconds * 1000);
    seconds = Math.min(2 * seconds, MOST_SECONDS);
  }

  let hiddenSince = Date.now();
  function look() {
    if (document.hidden) hiddenSince = Date.now();
    else if (Date.now() - hiddenSince > SLEEP_MILLISECONDS) open();
  }

  // A connection that died while the device slept or was offline may look open for minutes.
  addEventListener('online', open);
  document.addEventListener('resume', open);
  document.addEventListener('visibilitychange', look);
  open();
  return {
    reopen: open,
    close() {
      isOver = true;
      removeEventListener('online', open);
      document.removeEventListener('resume', open);
      document.removeEventListener('visibilitychange', look);
      clearTimeout(timer);
      source?.close();
    },
  };
}

/** Runs steps one after another, each with a pause after it; without pauses while nobody watches. */
export class Pace {
  /** @type {(() => number)[]} */
  #steps = [];
  #isRunning = false;
  #isHurried = false;
  #wake = () => {};

  /** Whether steps are still to come. */
  get isBusy() {
    return this.#steps.length > 0;
  }

  /** Adds steps, each of which returns the milliseconds to pause after it. @param {(() => number)[]} steps */
  add(...steps) {
    this.#steps.push(...steps);
    if (!this.#isRunning) this.#run();
  }

  /** Runs all steps that wait, without pauses. */
  hurry() {
    this.#isHurried = true;
    this.#wake();
  }

  /** Forgets the steps that have not run. */
  clear() {
    this.#steps = [];
  }

  async #run() {
    this.#isRunning = true;
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      const pause = this.#do(step);
      if (pause && !document.hidden && !this.#isHurried) await this.#wait(pause);
    }
    this.#isRunning = this.#isHurried = false;
  }

  /** Runs a step. One that fails is told on the console, and the next ones follow. @param {() => number} step */
  #do(step) {
    try {
      return step();
    } catch (error) {
      reportError(error);
      return 0;
    }
  }

  /** @param {number} pause @returns {Promise<void>} */
  #wait(pause) {
    return new Promise((resume) => {
      this.#wake = resume;
      setTimeout(resume, pause);
    });
  }
}
