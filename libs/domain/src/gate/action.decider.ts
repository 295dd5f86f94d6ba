import { ATTEMPTS_MAX } from '../connectors/index.js';
import { DomainError, type Decider, type Timestamp } from '../kernel/index.js';
import type { ActionCommand } from './action.commands.js';
import type { ActionEvent, ExecutionOutcome, WitnessVerdict } from './action.events.js';
import { currentAttempt, type Action, type ExecutionAttempt, type LivingAction } from './action.state.js';

type Of<Type extends ActionCommand['type']> = Extract<ActionCommand, { type: Type }>;

const initialState = (): Action => ({ state: 'none' });

const decide = (command: ActionCommand, state: Action): readonly ActionEvent[] => {
  if (command.type === 'SubmitAction') return submit(command, state);
  if (command.type === 'AbandonSubmission') {
    if (state.state !== 'none') return [];
    return [{ type: 'SubmissionAbandoned', data: { action: command.data.action, at: command.metadata.now } }];
  }
  if (state.state === 'none' || state.state === 'abandoned') throw new DomainError('not_found');
  switch (command.type) {
    case 'ClaimExecution':
      return claim(command, state);
    case 'RecordOutcome':
      return recordOutcome(command, state);
    case 'GiveUpExecution':
      return giveUp(command, state);
    case 'ExpireStart':
      return expireStart(command, state);
  }
};

/** Spreads stand last: one that stands first makes a hidden class for each event (docs/performance.md, Hidden classes). */
const submit = ({ data, metadata }: Of<'SubmitAction'>, state: Action): readonly ActionEvent[] => {
  if (state.state !== 'none') throw new DomainError('conflict');
  const { submission, decision, execution, claimant } = data;
  const { action } = submission;
  const at = metadata.now;
  const accepted: ActionEvent[] = [
    { type: 'ActionSubmitted', data: { at, ...submission } },
    { type: 'ActionDecided', data: { action, decision, at } },
  ];
  if (!execution) return accepted;
  const { class: executionClass, timeoutMs, startBy } = execution;
  accepted.push({
    type: 'ExecutionReady',
    data: { action, class: executionClass, timeout_ms: timeoutMs, start_by: startBy, at },
  });
  if (claimant) {
    const deadline = later(at, timeoutMs);
    accepted.push({
      type: 'ExecutionStarted',
      data: {
        action,
        attempt: 1,
        class: executionClass,
        executor: claimant.executor,
        claim: claimant.claim,
        may_have_run: false,
        deadline,
        at,
      },
    });
  }
  return accepted;
};

/** A claim loses quietly: somebody else has the work, or there is none left. */
const claim = ({ data, metadata }: Of<'ClaimExecution'>, state: LivingAction): readonly ActionEvent[] => {
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

/** Whether another send is allowed: never for `once`, never past the deadline of attempt 1, never a fourth (document 3, Retries). */
export const isRepeatableNow = (state: LivingAction, now: Timestamp): boolean => {
  const last = state.attempts.at(-1);
  return !!last && last.class === 'repeatable' && state.attempts.length < ATTEMPTS_MAX && now < last.deadline;
};

const recordOutcome = ({ data, metadata }: Of<'RecordOutcome'>, state: LivingAction): readonly ActionEvent[] => {
  const attempt = state.attempts.find((started) => started.claim === data.claim);
  if (!attempt) throw new DomainError('conflict', { message: 'This execution was never claimed.' });
  const current = currentAttempt(state);
  if (current && (current.claim === data.claim || current.claim === data.withdrawn)) {
    const outcome = ofAllAttempts(state, attempt, data.outcome);
    const reason = outcome === data.outcome ? undefined : 'earlier_attempt_unknown';
    return finished(state, attempt, outcome, metadata.now, reason);
  }
  const { action } = state.submission;
  const evidence = { ...data.outcome, action, attempt: attempt.attempt, claim: data.claim, at: metadata.now };
  return [{ type: 'LateReport', data: evidence }];
};

/**
 * `failed` says that the call was certainly not applied, by no attempt (document 1, Status values). Where an earlier one
 * may have run, a later one that did not cannot say so. A read has nothing to apply.
 */
const ofAllAttempts = (
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
 * Recovery after a crash between claim and outcome (architecture, step 3): a repeatable tool may still be tried by a new
 * claim; for every other the honest word is unknown. Never twice, never invented.
 */
const giveUp = ({ data, metadata }: Of<'GiveUpExecution'>, state: LivingAction): readonly ActionEvent[] => {
  const attempt = currentAttempt(state);
  const now = metadata.now;
  if (attempt?.claim !== data.claim) return [];
  if (!data.isExecutorSilent && !data.isPastDeadline) return [];
  if (!data.isPastDeadline && isRepeatableNow(state, now)) return [];
  return finished(state, attempt, lostOutcome(attempt, now), now, 'executor_lost');
};

const lostOutcome = (attempt: ExecutionAttempt, now: Timestamp): ExecutionOutcome => ({
  status: 'unknown',
  error_code: 'timeout',
  error_message: 'The process that ran this call was lost before it could say what happened. Check the tool itself.',
  result_digest: null,
  started_at: attempt.at,
  finished_at: now,
  latency_ms: null,
});

const expireStart = ({ metadata }: Of<'ExpireStart'>, state: LivingAction): readonly ActionEvent[] => {
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

/** The outcome, and the tool's own word as witness where no later evidence is awaited. What certainly did not run has none. */
const finished = (
  state: LivingAction,
  attempt: ExecutionAttempt,
  outcome: ExecutionOutcome,
  at: Timestamp,
  reason?: string,
): readonly ActionEvent[] => {
  const { action } = state.submission;
  const recorded: ActionEvent = {
    type: 'ExecutionFinished',
    data: { action, attempt: attempt.attempt, claim: attempt.claim, at, ...outcome },
  };
  if (outcome.status === 'failed') return [recorded];
  return [recorded, { type: 'ActionWitnessed', data: { action, at, ...reportedWitness(outcome, reason) } }];
};

const reportedWitness = (outcome: ExecutionOutcome, reason: string | undefined): WitnessVerdict => {
  if (outcome.status === 'succeeded') {
    const summary = 'The tool reported success; nothing else was checked.';
    return witness('VERIFIED', 'reported', [], summary);
  }
  const summary = 'Nobody can say whether the tool applied the call.';
  const reasons = [reason ?? outcome.error_code ?? 'unknown'];
  return witness('UNVERIFIABLE', 'none', reasons, summary);
};

const witness = (
  verdict: WitnessVerdict['verdict'],
  method: WitnessVerdict['method'],
  reasons: readonly string[],
  summary: string,
): WitnessVerdict => ({ level: 'L0', verdict, method, reasons, summary, evidence_digest: null, diff_rows: 0 });

/**
 * Whether this service can have written the event after those that made the action what it is. Whatever else stands in the log
 * was put there by somebody else, and changes nothing: least of all how an action ended (INV-18).
 */
export const doesFollow = (state: Action, event: ActionEvent): boolean => {
  if (event.type === 'ActionSubmitted' || event.type === 'SubmissionAbandoned') return state.state === 'none';
  if (state.state === 'none' || state.state === 'abandoned') return false;
  if (event.type === 'LateReport') return state.attempts.length > 0;
  if (state.state === 'recorded') return false;
  switch (event.type) {
    case 'ActionDecided':
      return state.decision === null;
    case 'ExecutionReady':
      return state.decision !== null && state.ready === null;
    case 'ExecutionStarted':
    case 'ExecutionFinished':
      return state.ready !== null && state.outcome === null;
    case 'ActionWitnessed':
      return state.outcome !== null;
  }
};

const evolve = (state: Action, event: ActionEvent): Action => {
  if (state.state === 'none' && event.type === 'ActionSubmitted') {
    const { at, ...submission } = event.data;
    const empty = { decision: null, decidedAt: null, ready: null, attempts: [], outcome: null, witness: null };
    return { state: 'executing', submission, createdAt: at, ...empty, revision: 0, sealingRevision: null };
  }
  if (event.type === 'SubmissionAbandoned') return state.state === 'none' ? { state: 'abandoned' } : state;
  if (state.state === 'none' || state.state === 'abandoned') return state;
  const next: LivingAction = { ...state, revision: state.revision + 1 };
  if (!doesFollow(state, event)) return next;
  switch (event.type) {
    case 'ActionDecided': {
      const decided = { ...next, decision: event.data.decision, decidedAt: event.data.at };
      return after(event, decided);
    }
    case 'ExecutionReady': {
      const { class: executionClass, timeout_ms: timeoutMs, start_by: startBy } = event.data;
      return { ...next, ready: { class: executionClass, timeoutMs, startBy } };
    }
    case 'ExecutionStarted':
      return { ...next, attempts: [...next.attempts, event.data] };
    case 'ExecutionFinished': {
      return after(event, { ...next, outcome: outcomeOf(event.data), state: 'witnessing' });
    }
    case 'ActionWitnessed':
      return after(event, { ...next, witness: witnessOf(event.data) });
    case 'ActionSubmitted':
    case 'LateReport':
      return next;
  }
};

/** Whether an action that is not recorded yet is so by this event. */
export const isRecordedBy = (event: ActionEvent): boolean =>
  event.type === 'ActionWitnessed' ||
  (event.type === 'ActionDecided' && event.data.decision.outcome === 'deny') ||
  // A failure has no witness to wait for.
  (event.type === 'ExecutionFinished' && event.data.status === 'failed');

const after = (event: ActionEvent, action: LivingAction): LivingAction =>
  isRecordedBy(event) ? recorded(action) : action;

const recorded = (action: LivingAction): LivingAction => ({
  ...action,
  state: 'recorded',
  sealingRevision: action.sealingRevision ?? action.revision,
});

const outcomeOf = (data: Extract<ActionEvent, { type: 'ExecutionFinished' }>['data']): ExecutionOutcome => {
  const { status, error_code, error_message, result_digest, started_at, finished_at, latency_ms } = data;
  return { status, error_code, error_message, result_digest, started_at, finished_at, latency_ms };
};

const witnessOf = (data: Extract<ActionEvent, { type: 'ActionWitnessed' }>['data']): WitnessVerdict => {
  const { level, verdict, method, reasons, summary, evidence_digest, diff_rows } = data;
  return { level, verdict, method, reasons, summary, evidence_digest, diff_rows };
};

const later = (at: Timestamp, ms: number): Timestamp => new Date(Date.parse(at) + ms).toISOString();

export const actionDecider: Decider<Action, ActionCommand, ActionEvent> = {
  category: 'action',
  eventTypes: {
    ActionSubmitted: true,
    ActionDecided: true,
    ExecutionReady: true,
    ExecutionStarted: true,
    ExecutionFinished: true,
    ActionWitnessed: true,
    LateReport: true,
    SubmissionAbandoned: true,
  },
  initialState,
  decide,
  evolve,
  isOver: ({ state }) => state === 'recorded' || state === 'abandoned',
};
