// The same over a client of @hey-api/openapi-ts. It reads the game's stream, so it never asks.
import { createGame, createPlayer, playMove, streamEvents } from './client';
import { client } from './client/client.gen';

const [baseUrl = 'http://127.0.0.1:8000', ruleset = 'parade'] = process.argv.slice(2);
client.setConfig({ baseUrl });

const throwOnError = true;
const { data: player } = await createPlayer({ body: { name: 'Ada', kind: 'bot' }, throwOnError });
client.setConfig({ auth: player.token });

const body = { ruleset, seat_count: 4, house: ['careful', 'careful', 'random'] };
const headers = { 'Idempotency-Key': crypto.randomUUID() };
const { data: game } = await createGame({ body, headers, throwOnError });

const path = { game_id: game.id };
let last_event_id: string | undefined;
let pause = 1000;
const onSseEvent = (event: { id?: string; retry?: number }) => {
  last_event_id = event.id ?? last_event_id;
  pause = event.retry ?? pause;
};
for (let over = false; !over; ) {
  // The stream may end before the game, if the service restarts: then it is opened again.
  const query = { last_event_id };
  const { stream } = await streamEvents({ path, query, onSseEvent, throwOnError });
  for await (const data of stream) {
    if (!data) continue;
    if ('reason' in data) {
      over = true;
      console.log(JSON.stringify(data.result));
    } else if ('code' in data) {
      console.error(data.detail);
    } else {
      const { turn, legal_moves } = 'items' in data ? data.game : data;
      const move = legal_moves[Math.floor(Math.random() * legal_moves.length)];
      if (turn === null || !move) continue;
      const played = await playMove({ path, body: { turn, move } });
      if (played.error && played.error.status !== 409) throw new Error(played.error.detail);
    }
  }
  if (!over) await new Promise((resolve) => setTimeout(resolve, pause));
}
