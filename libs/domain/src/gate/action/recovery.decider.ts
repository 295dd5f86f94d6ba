import type { Timestamp } from '../../kernel/index.js';
import type { ActionCommand, FoundOutcome } from './action.commands.js';
import type { ActionEvent, ExecutionOutcome } from './action.events.js';
import { beganAt, currentAttempt, progressOf, type ExecutionAttempt, type LivingAction } from './action.state.js';
import { wordAbout } from './change-log.decider.js';
import { finished, isRepeatableNow, ofAllAttempts } from './execution.decider.js';

type GiveUpExecution = Extract<ActionCommand, { type: 'GiveUpExecution' }>;
type ExpireStart = Extract<ActionCommand, { type: 'ExpireStart' }>;

/**
 * Ends an execution whose executor crashed between claim and outcome (rule EXEC-1): with what is known about it from
 * elsewhere, else with the outcome `unknown`. No events if the attempt may still be repeated by a new claim: then it is
 * tried again instead.
 */
export const giveUp = ({ data, metadata }: GiveUpExecution, state: LivingAction): readonly ActionEvent[] => {
  const attempt = currentAttempt(state);
  const now = metadata.now;
  if (attempt?.claim !== data.claim) return [];
  if (!data.isExecutorSilent && !data.isPastDeadline) return [];
  const known = knownOf(state, attempt, data.found ?? null, now);
  if (known === null && !data.isPastDeadline && isRepeatableNow(state, now)) return [];
  const { outcome, ...rest } = known ?? unheardOf(state, attempt, now);
  const ended = { ...rest, outcome: ofAllAttempts(state, attempt, outcome) };
  return finished(state, attempt, ended, now, outcome.status === 'unknown' ? 'executor_lost' : undefined);
};

/** Null if nobody knows what became of the attempt. */
const knownOf = (
  state: LivingAction,
  attempt: ExecutionAttempt,
  found: FoundOutcome | null,
  now: Timestamp,
): FoundOutcome | null => {
  if (found !== null && found.outcome.status !== 'unknown') return found;
  return wordAbout(state, attempt.attempt) === undefined
    ? null
    : { outcome: committedOutcome(beganAt(state, attempt), now) };
};

/**
 * Nobody knows what became of the attempt. Of a tool that a change log witnesses, progress is in the log before anything
 * is changed, and from this event on it is refused: without it the attempt has changed nothing (docs/adr/0033).
 */
const unheardOf = (state: LivingAction, attempt: ExecutionAttempt, now: Timestamp): FoundOutcome => {
  const startedAt = beganAt(state, attempt);
  const mayHaveBegun =
    (state.ready?.changeLogTimeoutMs ?? null) === null || progressOf(state, attempt.attempt) !== null;
  return { outcome: mayHaveBegun ? lostOutcome(startedAt, now) : notBegunOutcome(startedAt, now) };
};

const lostOutcome = (startedAt: Timestamp, now: Timestamp): ExecutionOutcome => ({
  status: 'unknown',
  error_code: 'timeout',
  error_message: 'The process that ran this call was lost before it could say what happened. Check the tool itself.',
  result_digest: null,
  started_at: startedAt,
  finished_at: now,
  latency_ms: null,
});

/** The change log shows the transaction of the attempt, so it has committed. */
const committedOutcome = (startedAt: Timestamp, now: Timestamp): ExecutionOutcome => ({
  ...lostOutcome(startedAt, now),
  status: 'succeeded',
  error_code: null,
  error_message: null,
});

const notBegunOutcome = (startedAt: Timestamp, now: Timestamp): ExecutionOutcome => ({
  ...lostOutcome(startedAt, now),
  status: 'failed',
  error_code: 'service_unavailable',
  error_message: 'The process that ran this call was lost before it changed anything. Submit it again.',
});

/**
 * Ends an execution that nobody claimed in time. It has certainly not run, because nothing is sent before a claim is in
 * the log.
 */
export const expireStart = ({ metadata }: ExpireStart, state: LivingAction): readonly ActionEvent[] => {
  const { ready, attempts, outcome, submission } = state;
  const now = metadata.now;
  if (!ready || outcome || attempts.length > 0 || now < ready.startBy) return [];
  const notStarted: ExecutionOutcome = {
    status: 'failed',
    error_code: 'service_unavailable',
    error_message: 'No worker took this call in time, and nothing was sent. Submit it again.',
    result_digest: null,
    started_at: null,
    finished_at: now,
    latency_ms: null,
  };
  return [
    { type: 'ExecutionFinished', data: { ...notStarted, action: submission.action, attempt: 0, claim: null, at: now } },
  ];
};
