// Follows all games of a player from a browser, with one stream.

const NAMES = ['turn', 'started', 'invited', 'ended', 'unavailable'];
const MOST_SECONDS = 30;

/**
 * Calls `on(name, data)` for each event of the player's stream, until the function that it returns
 * is called. `newTicket` gets a ticket, of createTurnsTicket.
 */
export function follow(baseUrl, newTicket, on) {
  let source, timer, lastId, isOver = false, seconds = 1;

  async function open() {
    try {
      const query = new URLSearchParams({ ticket: await newTicket() });
      // A new EventSource cannot send the header Last-Event-ID.
      if (lastId) query.set('last_event_id', lastId);
      if (isOver) return;
      source = new EventSource(`${baseUrl}/v1/me/stream?${query}`);
    } catch {
      return openLater();
    }
    for (const name of NAMES) source.addEventListener(name, receive);
    // The browser connects again by itself, unless the ticket has expired or a proxy has failed.
    source.onerror = () => source.readyState === EventSource.CLOSED && openLater();
  }

  function receive({ type, lastEventId, data }) {
    seconds = 1;
    on(type, JSON.parse(data));
    lastId = lastEventId || lastId;
  }

  function openLater() {
    if (!isOver) timer = setTimeout(open, seconds * 1000);
    seconds = Math.min(2 * seconds, MOST_SECONDS);
  }

  open();
  return () => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
  };
}

/** Returns a function that draws items one after another: the house moves several times at once. */
export function paced(draw, milliseconds = 600) {
  let last = Promise.resolve();
  const pause = () => new Promise((resume) => setTimeout(resume, milliseconds));
  return (items) => {
    // An item that cannot be drawn does not keep the others from being drawn.
    for (const item of items) last = last.then(() => draw(item)).catch(console.error).then(pause);
    return last;
  };
}

/** Returns how many milliseconds the service's clock is ahead, by an answer that fetch has got. */
export function clockOffset(response) {
  return Date.parse(response.headers.get('Server-Time')) - Date.now();
}
