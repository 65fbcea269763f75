// The same over a client of @hey-api/openapi-ts, whose functions are named like the operations.
import { createGame, createPlayer, listTurns, playMove } from './client';
import { client } from './client/client.gen';

const [baseUrl = 'http://127.0.0.1:8000', ruleset = 'parade'] = process.argv.slice(2);
client.setConfig({ baseUrl });

const throwOnError = true;
const { data: player } = await createPlayer({ body: { name: 'Ada', kind: 'bot' }, throwOnError });
client.setConfig({ auth: player.token });

const body = { ruleset, seat_count: 4, house: ['careful', 'careful', 'random'] };
const headers = { 'Idempotency-Key': crypto.randomUUID() };
const { data: game } = await createGame({ body, headers, throwOnError });

let since: string | undefined;
let result;
while (!result) {
  const { data: turns } = await listTurns({ query: { wait: 20, since }, throwOnError });
  for (const { id, turn, legal_moves } of turns.items) {
    const move = legal_moves[Math.floor(Math.random() * legal_moves.length)]!;
    const played = await playMove({ path: { game_id: id }, body: { turn: turn!, move } });
    if (played.error && played.error.status !== 409) throw new Error(played.error.detail);
  }
  result = turns.ended.find((ended) => ended.id === game.id)?.result;
  since = turns.cursor;
}
console.log(JSON.stringify(result));
