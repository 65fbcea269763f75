// A bot over a generated client: it sits down with the house and plays until the game is over.
import createClient from 'openapi-fetch';
import type { components, paths } from './client';

type Move = components['schemas']['Move'];

const [baseUrl = 'http://127.0.0.1:8000', ruleset = 'parade', seats = '4'] = process.argv.slice(2);

/** Sends a request again while it is not answered, or the service asks to come back later. */
async function patient(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone()).catch(() => Response.error());
    const again = [0, 429, 502, 503, 504].includes(response.status);
    const seconds = Number(response.headers.get('Retry-After') ?? (again ? attempt : 0));
    if (seconds) await new Promise((resume) => setTimeout(resume, 1000 * seconds));
    if (!again || attempt === 10) return response;
  }
}

const api = createClient<paths>({ baseUrl, fetch: patient });

/** What was asked for, or the problem as an error. */
function ok<T>({ data, error }: { data?: T; error?: { code: string; detail: string } }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.detail}`);
  return data;
}

function choose(moves: Move[]): Move {
  return moves[Math.floor(Math.random() * moves.length)]!; // your idea here
}

const player = ok(await api.POST('/v1/players', { body: { name: 'Ada', kind: 'bot' } }));
api.use({
  onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${player.token}`),
});

const house = Array<string>(Number(seats) - 1).fill('careful');
const once = { header: { 'Idempotency-Key': crypto.randomUUID() } };
const table = { ruleset, seat_count: Number(seats), house };
const game = ok(await api.POST('/v1/games', { params: once, body: table }));

let since: string | undefined;
let over;
while (!over) {
  const turns = ok(await api.GET('/v1/me/turns', { params: { query: { wait: 20, since } } }));
  for (const { id, turn, legal_moves } of turns.items) {
    const params = { path: { game_id: id } };
    const body = { turn: turn!, move: choose(legal_moves!) };
    const played = await api.POST('/v1/games/{game_id}/moves', { params, body });
    if (played.error?.status !== 409) ok(played); // 409: the turn has gone, so look again
  }
  over = turns.ended.find((ended) => ended.id === game.id);
  since = turns.cursor;
}
console.log(JSON.stringify(over.result));
