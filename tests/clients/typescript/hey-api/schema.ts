// The types by which the shared programs are written, as @hey-api/openapi-ts names them.
export type {
  Breakdown,
  ItemCause,
  Game,
  GameEvent,
  GameStatus,
  Move,
  MoveBody,
  OptionType,
  Preview,
  Problem,
  GameResult,
  Ruleset,
  StreamEnd,
  Table,
  WaitingGame,
} from './client';
