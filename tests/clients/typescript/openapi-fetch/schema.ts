// The types by which the shared programs are written, as openapi-typescript names them.
import type { components } from './client';

type Schemas = components['schemas'];

export type Breakdown = Schemas['Breakdown'];
export type ItemCause = Schemas['ItemCause'];
export type Game = Schemas['Game'];
export type GameEvent = Schemas['GameEvent'];
export type GameStatus = Schemas['GameStatus'];
export type Move = Schemas['Move'];
export type MoveBody = Schemas['MoveBody'];
export type OptionType = Schemas['OptionType'];
export type Preview = Schemas['Preview'];
export type GameResult = Schemas['GameResult'];
export type Ruleset = Schemas['Ruleset'];
export type Table = Schemas['Table'];
export type WaitingGame = Schemas['WaitingGame'];
