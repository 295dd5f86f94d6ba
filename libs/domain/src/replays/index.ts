export { RecordedCalls, type RecordedCall, type ReplayCursor } from './recorded-calls.port.js';
export type { Replay, ReplayRequest, ReplayResult, ReplayStatus, ReplayWindow, VersionInForce } from './replay.js';
export { ReplayRows, ReplayWork, type ReplayPage, type ReplayUnderWay } from './replay-rows.port.js';
export { runReplay, type ReplayEnd, type ReplayParts } from './replay-run.js';
export type { StoredSums } from './replay-sums.js';
export { OPEN_MAX, REPLAY_ACTIONS_MAX, Replays } from './replays.js';
export { comparedWith, shownReplay } from './shown-replay.js';
