// The types by which the shared programs are written, as openapi-generator names them.
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
  GameResult,
  Ruleset,
  Table,
} from './client';
