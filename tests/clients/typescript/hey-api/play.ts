// Plays a game to its end over the client that @hey-api/openapi-ts writes:
//   tsx play.ts URL RULESET SEATS
// All its players are in this one process, and each of them waits for its turns by itself.
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  analyse,
  checkMove,
  createGame,
  createPlayer,
  getGame,
  getRecord,
  getRuleset,
  joinGame,
  listEvents,
  listTurns,
  playMove,
  streamEvents,
  streamTurns,
} from './client';
import { createClient, type Client } from './client/client';
import { patient, repeated } from './patient';
import type {
  EndedGame,
  Game,
  GameResult,
  MoveBody,
  Problem,
  StreamEnd,
  TurnStreamData,
  WaitingGame,
} from './schema';
import * as switches from './switches';

const [baseUrl = '', ruleset = '', seats = ''] = process.argv.slice(2);
const seat_count = Number(seats);
const moves: { [type: string]: number } = {};
const events: { [type: string]: number } = {};

function counted(counts: { [type: string]: number }, type: string): void {
  counts[type] = (counts[type] ?? 0) + 1;
}

function connect(auth?: string): Client {
  return createClient({ baseUrl, auth, fetch: patient, throwOnError: true });
}

async function take(client: Client, game: WaitingGame): Promise<void> {
  assert(game.turn !== null && game.table && game.legal_moves && game.you !== null);
  assert.equal(game.status, 'playing');
  assert.equal(switches.seatCount(game.table), seat_count);
  assert(!switches.isFinished(game.table));
  const move = game.legal_moves[Math.floor(Math.random() * game.legal_moves.length)];
  assert(move);
  const body: MoveBody = { turn: game.turn, move: switches.retold(move) };
  const path = { game_id: game.id };
  const { data: check } = await checkMove({ client, path, body, throwOnError: true });
  if (check.preview) assert(switches.foreseen(check.preview) >= 0);

  const { data: played, error } = await playMove({ client, path, body, throwOnError: false });
  if (error !== undefined) {
    // Somebody counted, or laid the last card, before us. No other move can come too late.
    assert(error.status === 409 && move.type === 'count', error.detail);
    return;
  }
  counted(moves, move.type);
  // A move is safe to send again: it is recognised, and answered with what it caused.
  const { data: again } = await playMove({ client, path, body, throwOnError: true });
  assert.equal(again.items[0]?.version, played.items[0]?.version);
  // Who has laid a card in Contrast may have another move: to count for whoever has not.
  if (again.game.legal_moves.some((next) => next.type === 'count')) await take(client, again.game);
}

/** Take every turn as it comes, until the game has ended. */
async function live(client: Client, game_id: string): Promise<GameResult> {
  let since: string | undefined;
  for (;;) {
    const query = { wait: 20, since };
    const { data: turns } = await listTurns({ client, query, throwOnError: true });
    for (const game of turns.items) await take(client, game);
    const ended = turns.ended.find(({ id }) => id === game_id);
    if (ended) {
      assert(ended.result);
      return ended.result;
    }
    since = turns.cursor;
  }
}

/** Follow the stream of a game to its end; return that, and the version it has led to. */
async function follow(client: Client, game_id: string): Promise<[StreamEnd, number]> {
  let last_event_id: string | undefined;
  let pause = 0;
  let version: number | undefined;
  const onSseEvent = (event: { id?: string; retry?: number }): void => {
    last_event_id = event.id ?? last_event_id;
    pause = event.retry ?? pause;
  };
  const path = { game_id };
  for (;;) {
    const query = { last_event_id };
    const { stream } = await streamEvents({ client, path, query, onSseEvent, throwOnError: true });
    for await (const data of stream) {
      if (!data) continue;
      if ('reason' in data) return [data, version ?? 0];
      if ('code' in data) {
        const problem: Problem = data;
        assert(problem.status === 503 || problem.status === 429, problem.detail);
      } else if ('items' in data) {
        // Every item comes once, and in order.
        for (const item of data.items) {
          assert.equal(item.version, (version ?? 0) + 1);
          version = item.version;
        }
      } else {
        const game: Game = data;
        assert(game.id === game_id && version === undefined);
        version = game.version;
      }
    }
    await sleep(pause);
  }
}

/** Follow the stream of a player until a game has ended; return that, and the turns told. */
async function followTurns(client: Client, game_id: string): Promise<[EndedGame, number[]]> {
  let last_event_id: string | undefined;
  let pause = 0;
  let name: string | undefined;
  let started = false;
  const turns: number[] = [];
  const onSseEvent = (event: { event?: string; id?: string; retry?: number }): void => {
    name = event.event;
    last_event_id = event.id ?? last_event_id;
    pause = event.retry ?? pause;
  };
  const connection = new AbortController();
  const { signal } = connection;
  const throwOnError = true;
  for (;;) {
    const query = { last_event_id };
    const { stream } = await streamTurns({ client, query, onSseEvent, signal, throwOnError });
    for await (const each of stream) {
      const data: TurnStreamData | void = each;
      if (!data) continue;
      if ('code' in data) {
        const problem: Problem = data;
        assert.equal(name, 'unavailable');
        assert(problem.status === 503 || problem.status === 429, problem.detail);
      } else if (!('game' in data)) {
        const ended: EndedGame = data;
        assert.equal(name, 'ended');
        assert(ended.id === game_id && started);
        connection.abort();
        return [ended, turns];
      } else if ('legal_moves' in data.game) {
        const game: Game = data.game;
        assert.equal(name, 'turn');
        assert(game.id === game_id && game.turn !== null && game.legal_moves.length > 0);
        assert(game.table && switches.seatCount(game.table) === seat_count);
        turns.push(game.turn);
      } else {
        assert.equal(name, 'started');
        assert(data.game.id === game_id && data.game.status === 'playing');
        started = true;
      }
    }
    await sleep(pause);
  }
}

async function main(): Promise<void> {
  const stranger = connect();
  const path = { ruleset };
  const { data: rules } = await getRuleset({ client: stranger, path, throwOnError: true });
  for (const { type, default: value } of rules.options) {
    assert(value === null || switches.fits(type, value), type);
  }

  const players: Client[] = [];
  for (let seat = 0; seat < seat_count; seat++) {
    const body = { name: `Bot ${seat}`, kind: 'bot' } as const;
    const { data: player } = await createPlayer({ client: stranger, body, throwOnError: true });
    players.push(connect(player.token));
  }
  const host = players[0];
  assert(host);

  // The same key and body give the same game again.
  const creation = {
    client: host,
    body: { ruleset, seat_count, visibility: 'private' as const },
    headers: { 'Idempotency-Key': randomUUID() },
    throwOnError: true as const,
  };
  const { data: game } = await createGame(creation);
  const { data: same } = await createGame(creation);
  assert.equal(game.id, same.id);
  assert(game.invite !== null && switches.canGoOn(game.status));
  const here = { game_id: game.id };
  for (const client of players.slice(1)) {
    await joinGame({ client, path: here, body: { invite: game.invite }, throwOnError: true });
  }

  const followed = follow(host, game.id);
  const followedTurns = followTurns(host, game.id);
  console.log('playing');
  const [result, ...others] = await Promise.all(players.map((client) => live(client, game.id)));
  assert(result);
  for (const other of others) assert.deepEqual(other, result);
  assert.deepEqual(switches.totals(result.breakdown), result.scores);

  const { data: over } = await getGame({ client: host, path: here, throwOnError: true });
  assert(!switches.canGoOn(over.status) && over.table && switches.isFinished(over.table));
  const [end, version] = await followed;
  assert.equal(end.reason, 'ended');
  assert.equal(end.status, over.status);
  assert.deepEqual(end.result, result);
  assert.equal(version, over.version);
  const [ended, turns] = await followedTurns;
  assert.deepEqual(ended.result, result);
  assert(turns.length > 0);
  assert.deepEqual(turns, [...turns].sort((one, other) => one - other));
  for (let since: string | undefined, more = true; more; ) {
    const query = { since, limit: 50 };
    const { data } = await listEvents({ client: host, path: here, query, throwOnError: true });
    for (const item of data.items) {
      assert(switches.isOfSomebody(item.by) || item.turn === null, `a move by ${item.by}`);
      for (const event of item.events) {
        for (const seat of switches.concerned(event)) assert(seat === null || seat < seat_count);
        counted(events, event.type);
      }
    }
    since = data.cursor;
    more = data.more;
  }

  // A record is a body for analyse as it is.
  const { data: record } = await getRecord({ client: host, path: here, throwOnError: true });
  const { data: replayed } = await analyse({ client: stranger, body: record, throwOnError: true });
  assert.deepEqual(replayed.result, result);

  const { status } = over;
  console.log(JSON.stringify({ status, result, moves, events, repeated: repeated.times }));
}

await main();
