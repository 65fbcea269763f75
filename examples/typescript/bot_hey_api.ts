// The same over a client of @hey-api/openapi-ts. Its turns come by the player's stream.
import { createPlayer, playMove, quickMatch, streamTurns, type TurnStreamData } from './client';
import { client } from './client/client.gen';

const [baseUrl = 'http://127.0.0.1:8000', ruleset = 'parade'] = process.argv.slice(2);
client.setConfig({ baseUrl });

const throwOnError = true;
const { data: player } = await createPlayer({ body: { name: 'Ada', kind: 'bot' }, throwOnError });
client.setConfig({ auth: player.token });

// A seat beside players who want the same; after five seconds the house takes the empty ones.
const body = { ruleset, seat_count: 4, turn_seconds: 60, house_after_seconds: 5 };
const headers = { 'Idempotency-Key': crypto.randomUUID() };
const { data: mine } = await quickMatch({ body, headers, throwOnError });

/** Does what an event of the stream asks for. Returns true when the game is over. */
async function handle(data: TurnStreamData): Promise<boolean> {
  if ('code' in data) {
    console.error(data.detail); // the stream is not available now
  } else if ('game' in data) {
    const { game } = data;
    if (!('legal_moves' in game) || game.turn === null) return false; // it has only started
    const move = game.legal_moves[Math.floor(Math.random() * game.legal_moves.length)];
    if (!move) return false;
    const played = await playMove({ path: { game_id: game.id }, body: { turn: game.turn, move } });
    if (played.error && played.error.status !== 409) throw new Error(played.error.detail);
  } else if (data.id === mine.id) {
    console.log(JSON.stringify(data.result));
    return true;
  }
  return false;
}

let last_event_id: string | undefined;
let pause = 1000;
const onSseEvent = (event: { id?: string; retry?: number }) => {
  last_event_id = event.id ?? last_event_id;
  pause = event.retry ?? pause;
};
const connection = new AbortController();
const { signal } = connection;
for (let over = false; !over; ) {
  // The stream ends when the service restarts: then it is opened again, and goes on.
  const query = { last_event_id };
  const { stream } = await streamTurns({ query, onSseEvent, signal, throwOnError });
  for await (const data of stream) {
    over = data ? await handle(data) : false;
    if (!over) continue;
    connection.abort(); // closes the stream, without which the program would not end
    break;
  }
  if (!over) await new Promise((resolve) => setTimeout(resolve, pause));
}
