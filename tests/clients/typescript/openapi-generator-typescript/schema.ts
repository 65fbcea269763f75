// The types by which the shared programs are written, as openapi-generator names them.
export type {
  Breakdown,
  Cause,
  Game,
  GameEvent,
  GameStatus,
  Move,
  MoveBody,
  OptionType,
  Preview,
  Result,
  Ruleset,
  Table,
} from './client';
