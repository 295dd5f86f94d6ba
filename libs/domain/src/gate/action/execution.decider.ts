import { ATTEMPTS_MAX } from '../../connectors/index.js';
import { DomainError, type ActionId, type Timestamp } from '../../kernel/index.js';
import type { ActionCommand, Claimant, ExecutionTerms, FoundOutcome } from './action.commands.js';
import type { ActionEvent, ExecutionOutcome } from './action.events.js';
import { changeLogAfterFinish, contradictedBefore, waitsForLog, witnessedBefore } from './change-log.decider.js';
import { currentAttempt, type ExecutionAttempt, type LivingAction } from './action.state.js';
import { amendedByLateReport, hasWitness, saysMoreThanUnknown, witnessed } from './witness.decider.js';

type ClaimExecution = Extract<ActionCommand, { type: 'ClaimExecution' }>;
type RecordOutcome = Extract<ActionCommand, { type: 'RecordOutcome' }>;
type ExecutionReady = Extract<ActionEvent, { type: 'ExecutionReady' }>;
type ExecutionFinished = Extract<ActionEvent, { type: 'ExecutionFinished' }>;
type LateReport = Extract<ActionEvent, { type: 'LateReport' }>;

/**
 * The event that makes an allowed action ready to be claimed.
 * @param opened organization and connector, for the table of open executions. Set if an approval made the action ready,
 * because its row was closed while it waited
 */
export const madeReady = (
  action: ActionId,
  execution: ExecutionTerms,
  at: Timestamp,
  opened: Pick<ExecutionReady['data'], 'org' | 'connector'> | null = null,
): ActionEvent => {
  const { class: executionClass, timeoutMs, startBy, hasReadBack, changeLogTimeoutMs } = execution;
  const readBack = hasReadBack === true ? { read_back: true as const } : {};
  const changeLog = changeLogTimeoutMs === undefined ? {} : { change_log: { timeout_ms: changeLogTimeoutMs } };
  const confirmed = { ...readBack, ...changeLog };
  const ready = { action, class: executionClass, timeout_ms: timeoutMs, start_by: startBy, ...confirmed, at };
  return { type: 'ExecutionReady', data: opened === null ? ready : { ...ready, ...opened } };
};

/**
 * The first claim, by the process that accepted the call. It is in the same append as `ExecutionReady`, so no other
 * process can claim first.
 */
export const startedAtOnce = (
  action: ActionId,
  execution: ExecutionTerms,
  claimant: Claimant,
  at: Timestamp,
): ActionEvent => ({
  type: 'ExecutionStarted',
  data: {
    action,
    attempt: 1,
    class: execution.class,
    executor: claimant.executor,
    claim: claimant.claim,
    may_have_run: false,
    deadline: later(at, execution.timeoutMs),
    at,
  },
});

/**
 * Claims the execution for one attempt. No events if the claim is lost, because another executor holds the execution or
 * nothing is left to run.
 */
export const claim = ({ data, metadata }: ClaimExecution, state: LivingAction): readonly ActionEvent[] => {
  const { ready, outcome, attempts, submission } = state;
  const now = metadata.now;
  if (!ready || outcome) return [];
  const { executor, claim: token, supersedes, mayHaveRun } = data;
  const previous = attempts.at(-1);
  if ((previous?.claim ?? null) !== supersedes) return [];
  if (!previous && now >= ready.startBy) return [];
  if (previous && !isRepeatableNow(state, now)) return [];
  const deadline = previous?.deadline ?? later(now, ready.timeoutMs);
  const may_have_run = previous !== undefined && (mayHaveRun || previous.may_have_run);
  const { action } = submission;
  const attempt = attempts.length + 1;
  const { class: executionClass } = ready;
  const started = { action, attempt, class: executionClass, executor, claim: token, may_have_run, deadline, at: now };
  return [{ type: 'ExecutionStarted', data: started }];
};

/**
 * Whether another attempt is allowed: never for `once`, not past the deadline of attempt 1, and never a fourth attempt
 * (rule EXEC-2).
 */
export const isRepeatableNow = (state: LivingAction, now: Timestamp): boolean => {
  const last = state.attempts.at(-1);
  return !!last && last.class === 'repeatable' && state.attempts.length < ATTEMPTS_MAX && now < last.deadline;
};

export const recordOutcome = ({ data, metadata }: RecordOutcome, state: LivingAction): readonly ActionEvent[] => {
  const attempt = state.attempts.find((started) => started.claim === data.claim);
  if (!attempt) throw new DomainError('conflict', { message: 'This execution was never claimed.' });
  const current = currentAttempt(state);
  if (current && (current.claim === data.claim || current.claim === data.withdrawn)) {
    const outcome = ofAllAttempts(state, attempt, data.outcome);
    const reason = outcome === data.outcome ? undefined : 'earlier_attempt_unknown';
    return finished(state, attempt, { ...data, outcome }, metadata.now, reason);
  }
  const { action } = state.submission;
  const evidence = { ...data.outcome, action, attempt: attempt.attempt, claim: data.claim, at: metadata.now };
  return [{ type: 'LateReport', data: evidence }, ...amendedByLateReport(state, data.outcome, metadata.now)];
};

/**
 * `failed` means that no attempt applied the call (rule GATE-5). If an earlier attempt may have run, a failure of this
 * one does not show that, so the outcome is `unknown`. Except for reads, which apply nothing.
 */
export const ofAllAttempts = (
  { submission }: LivingAction,
  attempt: ExecutionAttempt,
  outcome: ExecutionOutcome,
): ExecutionOutcome => {
  if (outcome.status !== 'failed' || !attempt.may_have_run || submission.side_effect === 'read') return outcome;
  return {
    ...outcome,
    status: 'unknown',
    error_message: 'An earlier attempt of this call may have run, and a later one did not. Check the tool itself.',
  };
};

/**
 * The events that end an execution, whether its executor reported the outcome or recovery gave it up. A tool that a
 * change log witnesses has no read-back: the log says more.
 */
export const finished = (
  state: LivingAction,
  attempt: ExecutionAttempt,
  { outcome, transaction }: FoundOutcome,
  at: Timestamp,
  reason?: string,
): readonly ActionEvent[] => {
  const { action } = state.submission;
  const committed = transaction === undefined ? {} : { transaction };
  const recorded = { action, attempt: attempt.attempt, claim: attempt.claim, at, ...outcome, ...committed };
  if (!hasWitness(outcome)) return [{ type: 'ExecutionFinished', data: recorded }, ...contradictedBefore(state, at)];
  if (waitsForLog(state, transaction)) {
    const until = later(at, state.ready?.changeLogTimeoutMs ?? 0);
    const ended = { outcome, attempt: attempt.attempt, transaction: transaction ?? null };
    return [
      { type: 'ExecutionFinished', data: { ...recorded, change_log: { reason: reason ?? null, until } } },
      ...witnessedBefore(state, ended, at),
    ];
  }
  if (state.ready?.hasReadBack === true) {
    return [{ type: 'ExecutionFinished', data: { ...recorded, read_back: { reason: reason ?? null } } }];
  }
  return [{ type: 'ExecutionFinished', data: recorded }, ...witnessed(state, outcome, at, reason)];
};

export const afterReady = (action: LivingAction, data: ExecutionReady['data']): LivingAction => {
  const { class: executionClass, timeout_ms: timeoutMs, start_by: startBy, read_back, change_log } = data;
  const confirmed = { hasReadBack: read_back === true, changeLogTimeoutMs: change_log?.timeout_ms ?? null };
  return { ...action, ready: { class: executionClass, timeoutMs, startBy, ...confirmed } };
};

export const afterStart = (action: LivingAction, attempt: ExecutionAttempt): LivingAction => ({
  ...action,
  attempts: [...action.attempts, attempt],
});

export const afterFinish = (action: LivingAction, data: ExecutionFinished['data']): LivingAction => ({
  ...action,
  outcome: outcomeOf(data),
  readBack: data.read_back ?? null,
  changeLog: changeLogAfterFinish(action, data),
  state: 'witnessing',
});

/**
 * Keeps the first late report that says more than `unknown`, for the witness. A late report after the action is
 * recorded is not kept: `recordOutcome` amends the witness by it at once.
 */
export const afterLateReport = (action: LivingAction, data: LateReport['data']): LivingAction => {
  const isKept = action.state !== 'recorded' && action.lateReport === null && saysMoreThanUnknown(action, data);
  return isKept ? { ...action, lateReport: outcomeOf(data) } : action;
};

const outcomeOf = (data: ExecutionOutcome): ExecutionOutcome => {
  const { status, error_code, error_message, result_digest, started_at, finished_at, latency_ms, cost } = data;
  const outcome = { status, error_code, error_message, result_digest, started_at, finished_at, latency_ms };
  return cost === undefined ? outcome : { ...outcome, cost };
};

const later = (at: Timestamp, ms: number): Timestamp => new Date(Date.parse(at) + ms).toISOString();
