import type { Timestamp } from '../../kernel/index.js';
import type { ActionCommand } from './action.commands.js';
import type { ActionEvent, ExecutionOutcome } from './action.events.js';
import { beganAt, currentAttempt, type LivingAction } from './action.state.js';
import { finished, isRepeatableNow } from './execution.decider.js';

type GiveUpExecution = Extract<ActionCommand, { type: 'GiveUpExecution' }>;
type ExpireStart = Extract<ActionCommand, { type: 'ExpireStart' }>;

/**
 * Ends an execution whose executor crashed between claim and outcome (rule EXEC-1), with the outcome `unknown`. No
 * events if the attempt may still be repeated by a new claim: then it is tried again instead.
 */
export const giveUp = ({ data, metadata }: GiveUpExecution, state: LivingAction): readonly ActionEvent[] => {
  const attempt = currentAttempt(state);
  const now = metadata.now;
  if (attempt?.claim !== data.claim) return [];
  if (!data.isExecutorSilent && !data.isPastDeadline) return [];
  if (!data.isPastDeadline && isRepeatableNow(state, now)) return [];
  return finished(state, attempt, lostOutcome(beganAt(state, attempt), now), now, 'executor_lost');
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
