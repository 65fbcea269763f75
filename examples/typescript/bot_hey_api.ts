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
const { stream } = await streamEvents({ path, throwOnError });
for await (const data of stream) {
  if (!data) continue;
  if ('items' in data || 'legal_moves' in data) {
    const { turn, legal_moves } = 'items' in data ? data.game : data;
    const move = legal_moves[Math.floor(Math.random() * legal_moves.length)];
    if (turn === null || !move) continue;
    const played = await playMove({ path, body: { turn, move } });
    if (played.error && played.error.status !== 409) throw new Error(played.error.detail);
  } else if ('result' in data) {
    console.log(JSON.stringify(data.result));
  }
}
