// The types by which the shared programs are written, as orval names them.
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
