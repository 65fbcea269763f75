// Plays a game to its end over openapi-fetch, by the types that openapi-typescript writes:
//   tsx play.ts URL RULESET SEATS
// All its players are in this one process, and each of them waits for its turns by itself.
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';

import createClient, { type Client } from 'openapi-fetch';

import type { paths } from './client';
import { patient, repeated } from './patient';
import type { Move, MoveBody, GameResult, WaitingGame } from './schema';
import * as switches from './switches';

const [baseUrl = '', ruleset = '', seats = ''] = process.argv.slice(2);
const seat_count = Number(seats);
const moves: { [type: string]: number } = {};
const events: { [type: string]: number } = {};

function counted(counts: { [type: string]: number }, type: string): void {
  counts[type] = (counts[type] ?? 0) + 1;
}

type Api = Client<paths>;

function connect(token?: string): Api {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl, headers, fetch: patient });
}

/** An answer's body; a problem is a fault. */
function body<T>(answer: { data?: T; error?: unknown }): T {
  assert(answer.data !== undefined, JSON.stringify(answer.error));
  return answer.data;
}

async function take(api: Api, game: WaitingGame): Promise<void> {
  assert(game.turn !== null && game.table && game.legal_moves && game.you !== null);
  assert.equal(game.status, 'playing');
  assert.equal(switches.seatCount(game.table), seat_count);
  assert(!switches.isFinished(game.table));
  const move = game.legal_moves[Math.floor(Math.random() * game.legal_moves.length)];
  assert(move);
  const answer: MoveBody = { turn: game.turn, move: switches.retold(move) };
  const request = { params: { path: { game_id: game.id } }, body: answer };
  const { preview } = body(await api.POST('/v1/games/{game_id}/moves/check', request));
  if (preview) assert(switches.foreseen(preview) >= 0);

  const { data: played, error } = await api.POST('/v1/games/{game_id}/moves', request);
  if (error !== undefined) {
    // Somebody counted, or laid the last card, before us. No other move can come too late.
    assert(error.status === 409 && move.type === 'count', error.detail);
    return;
  }
  counted(moves, move.type);
  // A move is safe to send again: it is recognised, and answered with what it caused.
  const again = body(await api.POST('/v1/games/{game_id}/moves', request));
  assert.equal(again.items[0]?.version, played.items[0]?.version);
  // Who has laid a card in Contrast may have another move: to count for whoever has not.
  if (again.game.legal_moves.some((next) => next.type === 'count')) await take(api, again.game);
}

/** Take every turn as it comes, until the game has ended. */
async function live(api: Api, game_id: string): Promise<GameResult> {
  let since: string | undefined;
  for (;;) {
    const query = { wait: 20, since };
    const turns = body(await api.GET('/v1/me/turns', { params: { query } }));
    for (const game of turns.items) await take(api, game);
    const ended = turns.ended.find(({ id }) => id === game_id);
    if (ended) {
      assert(ended.result);
      return ended.result;
    }
    since = turns.cursor;
  }
}

async function main(): Promise<void> {
  const stranger = connect();
  const params = { path: { ruleset } };
  const rules = body(await stranger.GET('/v1/rulesets/{ruleset}', { params }));
  for (const { type, default: value } of rules.options) {
    assert(value === null || switches.fits(type, value), type);
  }

  const players: Api[] = [];
  for (let seat = 0; seat < seat_count; seat++) {
    const player = { name: `Bot ${seat}`, kind: 'bot' } as const;
    players.push(connect(body(await stranger.POST('/v1/players', { body: player })).token));
  }
  const host = players[0];
  assert(host);

  // The same key and body give the same game again.
  const creation = {
    params: { header: { 'Idempotency-Key': randomUUID() } },
    body: { ruleset, seat_count, visibility: 'private' as const },
  };
  const game = body(await host.POST('/v1/games', creation));
  const same = body(await host.POST('/v1/games', creation));
  assert.equal(game.id, same.id);
  assert(game.invite !== null && switches.canGoOn(game.status));
  const path = { game_id: game.id };
  for (const api of players.slice(1)) {
    const seat = { params: { path }, body: { invite: game.invite } };
    body(await api.POST('/v1/games/{game_id}/seats', seat));
  }

  console.log('playing');
  const [result, ...others] = await Promise.all(players.map((api) => live(api, game.id)));
  assert(result);
  for (const other of others) assert.deepEqual(other, result);
  assert.deepEqual(switches.totals(result.breakdown), result.scores);

  const over = body(await host.GET('/v1/games/{game_id}', { params: { path } }));
  assert(!switches.canGoOn(over.status) && over.table && switches.isFinished(over.table));
  for (let since: string | undefined, more = true; more; ) {
    const part = { params: { path, query: { since, limit: 50 } } };
    const page = body(await host.GET('/v1/games/{game_id}/events', part));
    for (const item of page.items) {
      assert(switches.isOfSomebody(item.by) || item.turn === null, `a move by ${item.by}`);
      for (const event of item.events) {
        for (const seat of switches.concerned(event)) assert(seat === null || seat < seat_count);
        counted(events, event.type);
      }
    }
    since = page.cursor;
    more = page.more;
  }

  // A record is a body for analyse as it is.
  const record = body(await host.GET('/v1/games/{game_id}/record', { params: { path } }));
  const replayed = body(await stranger.POST('/v1/analysis', { body: record }));
  assert.deepEqual(replayed.result, result);

  const { status } = over;
  console.log(JSON.stringify({ status, result, moves, events, repeated: repeated.times }));
}

await main();
