import type { EventId } from '../kernel/index.js';
import type { AttemptOutcome, DeliveryStatus, DeliveryStep } from './delivery.js';
import { TEST_EVENT_TYPE } from './outgoing-event.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first failed attempt, the second, and so on (rule HOOK-1). */
export const RETRY_DELAYS_MS: readonly number[] = [
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];
const JITTER = 0.2;

/** As many as there are delays between them: what `SERVICE_WEBHOOK_MAX_ATTEMPTS` may be. */
export const ATTEMPTS_LIMIT = RETRY_DELAYS_MS.length + 1;

/** Under way to one endpoint, from all processes together (rule HOOK-2). */
export const IN_FLIGHT_MAX = 4;

/** A process that has not said what came of its attempt so long after it had to end has fallen silent. */
const SILENCE_MS = 20_000;

/** @param chance from 0, inclusive, to 1: where in the 20 % before and after the time falls */
export const retryDelayMs = (failedAttempts: number, chance: number): number => {
  const delayMs = RETRY_DELAYS_MS[Math.min(failedAttempts, RETRY_DELAYS_MS.length) - 1] as number;
  return Math.round(delayMs * (1 - JITTER + 2 * JITTER * chance));
};

/** Somebody waits for the answer to a test, and nobody for a second try. */
export const attemptsOf = (type: string, maxAttempts: number): number =>
  type === TEST_EVENT_TYPE ? 1 : Math.min(maxAttempts, ATTEMPTS_LIMIT);

/** What becomes of a delivery by an attempt. */
export const stepAfter = (
  outcome: Pick<AttemptOutcome, 'isDelivered'>,
  made: { readonly attempt: number; readonly attemptsMax: number },
  { nowMs, chance }: { readonly nowMs: number; readonly chance: number },
): DeliveryStep => {
  if (outcome.isDelivered) return { status: 'delivered' };
  if (made.attempt >= made.attemptsMax) return { status: 'dead' };
  return { status: 'retrying', dueMs: nowMs + retryDelayMs(made.attempt, chance) };
};

/** Until when whoever claims a delivery now counts as sending it. */
export const claimEndMs = (nowMs: number, timeoutMs: number): number => nowMs + timeoutMs + SILENCE_MS;

/** A delivery that is open, as a claimer finds it. */
export interface OpenDelivery {
  readonly event: EventId;
  readonly type: string;
  readonly status: Extract<DeliveryStatus, 'pending' | 'delivering' | 'retrying'>;
  readonly attempt: number;
  /** Of one under way: when its claim ends. Of the others: when they are due. */
  readonly dueMs: number;
  /** Whether the attempt under way was begun once more, because a process had fallen silent in it. */
  readonly isSecondTry: boolean;
}

/** `send`: under this attempt's number. `fail`: its processes fell silent twice, so this attempt is over without an answer. */
export interface Claim {
  readonly event: EventId;
  readonly type: string;
  readonly what: 'send' | 'fail';
  readonly attempt: number;
  readonly isSecondTry: boolean;
}

/**
 * What may be taken up of one endpoint's open deliveries: those that are due and those whose process fell silent, as many as
 * leave at most `inFlightMax` under way. An attempt counts from its claim. One whose process fell silent goes again once
 * under its number, so every event is sent at least once, and no delivery has more attempts than it may.
 * @param open in the order in which they are to go
 */
export const claimsOf = (open: readonly OpenDelivery[], nowMs: number, inFlightMax: number): readonly Claim[] => {
  const isUnderWay = ({ status, dueMs }: OpenDelivery): boolean => status === 'delivering' && dueMs > nowMs;
  let free = inFlightMax - open.filter(isUnderWay).length;
  const claims: Claim[] = [];
  for (const delivery of open) {
    if (delivery.dueMs > nowMs) continue;
    const { event, type, attempt, status, isSecondTry } = delivery;
    if (status === 'delivering' && isSecondTry) {
      claims.push({ event, type, what: 'fail', attempt, isSecondTry });
    } else if (free > 0) {
      free -= 1;
      const isAgain = status === 'delivering';
      claims.push({ event, type, what: 'send', attempt: isAgain ? attempt : attempt + 1, isSecondTry: isAgain });
    }
  }
  return claims;
};

/**
 * Whether an endpoint is to be disabled at a failed attempt: every one since `failingSinceMs` has failed, for as long as the
 * setting says. Asked at failures alone, so an endpoint to which nothing is sent stays.
 * @param aimedAtMs when an administrator last pointed or switched it: what failed before does not count
 */
export const isGivenUp = (
  { failingSinceMs, aimedAtMs }: { readonly failingSinceMs: number; readonly aimedAtMs: number },
  nowMs: number,
  disableAfterMs: number,
): boolean => failingSinceMs >= aimedAtMs && nowMs - failingSinceMs >= disableAfterMs;
