// A fetch that sends again what did not arrive or came too early. Every request of ours may be
// repeated: a move is recognised by seat, turn and move, a creation by its Idempotency-Key.
import { setTimeout as sleep } from 'node:timers/promises';

export const repeated = { times: 0 };

const TRIES = 10;
const NOT_NOW = new Set([429, 502, 503, 504]);

export async function patient(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone()).catch((error: unknown) => {
      if (attempt === TRIES) throw error;
      return undefined;
    });
    const again = response === undefined || NOT_NOW.has(response.status);
    if (again) repeated.times++;
    // On a 200, Retry-After says that too many are waiting: the answer is good, the next one later.
    const pause = Number(response?.headers.get('Retry-After') ?? (again ? 0.1 * 2 ** attempt : 0));
    if (pause > 0) await sleep(1000 * pause);
    if (response !== undefined && (!again || attempt === TRIES)) return response;
  }
}
