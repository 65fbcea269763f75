// The same over a client of openapi-generator (typescript-fetch), whose members are in camelCase.
import { Configuration, GamesApi, MeApi, PlayApi, PlayersApi, ResponseError } from './client';

const [basePath = 'http://127.0.0.1:8000'] = process.argv.slice(2);
const newPlayerBody = { name: 'Ada', kind: 'bot' } as const;
const player = await new PlayersApi(new Configuration({ basePath })).createPlayer({ newPlayerBody });
const me = new Configuration({ basePath, accessToken: player.token });

const newGameBody = { ruleset: 'parade', seatCount: 3, house: ['careful', 'careful'] };
const idempotencyKey = crypto.randomUUID();
const game = await new GamesApi(me).createGame({ newGameBody, idempotencyKey });

let since: string | undefined;
let over;
while (!over) {
  const turns = await new MeApi(me).listTurns({ wait: 20, since });
  for (const { id, turn, legalMoves } of turns.items) {
    const move = legalMoves![Math.floor(Math.random() * legalMoves!.length)]!;
    const played = new PlayApi(me).playMove({ gameId: id, moveBody: { turn: turn!, move } });
    await played.catch((error: unknown) => {
      if (!(error instanceof ResponseError && error.response.status === 409)) throw error;
    });
  }
  over = turns.ended.find((ended) => ended.id === game.id);
  since = turns.cursor;
}
console.log(JSON.stringify(over.result));
