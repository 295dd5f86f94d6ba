import { DomainError, epochMsOf, timestampOf, type Timestamp } from '../kernel/index.js';
import type { ReplayWindow } from './replay.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What a replay covers at most, and unless asked otherwise (rule REPLAY-1). */
const WINDOW_MAX_MS = 90 * DAY_MS;
const WINDOW_DEFAULT_MS = 14 * DAY_MS;

/**
 * The window that is replayed: by default the 14 days up to now. One that ends later ends now, since nothing was recorded
 * after it.
 * @param now of the request
 * @throws {DomainError} replay_window_invalid naming the bound to change
 */
export const replayWindow = (asked: Partial<ReplayWindow>, now: Timestamp): ReplayWindow => {
  const toMs = Math.min(epochMsOf(asked.to ?? now), epochMsOf(now));
  const fromMs = asked.from === undefined ? toMs - WINDOW_DEFAULT_MS : epochMsOf(asked.from);
  if (fromMs >= toMs || toMs - fromMs > WINDOW_MAX_MS) {
    throw new DomainError('replay_window_invalid', { param: asked.from === undefined ? 'to' : 'from' });
  }
  return { from: timestampOf(fromMs), to: timestampOf(toMs) };
};
