import { MAX_WITNESS_REASONS, MAX_WORD_BYTES } from '#libs/crypto';
import { DomainError, type ActionId, type Timestamp } from '../../kernel/index.js';
import type { ActionCommand, ReadBackResult } from './action.commands.js';
import type { ActionEvent, AmendmentCause, Decision, ExecutionOutcome, WitnessVerdict } from './action.events.js';
import { awaitsReadBack, type LivingAction } from './action.state.js';

type CommandOf<Type extends ActionCommand['type']> = Extract<ActionCommand, { type: Type }>;
type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

/** Whether an outcome is verified: a failed call had no effect, so there is nothing to verify. */
export const hasWitness = ({ status }: Pick<ExecutionOutcome, 'status'>): boolean => status !== 'failed';

/** The first witness of a tool without read-back, from the recorded outcome alone. */
export const witnessed = (
  action: LivingAction,
  outcome: ExecutionOutcome,
  at: Timestamp,
  reason: string | undefined,
): readonly ActionEvent[] =>
  firstWitness(action, outcome, atAskedLevel(action.decision, reportedWitness(outcome, reason)), at);

/** The first witness of an action. If a late report came before it and says more, an amendment follows at once. */
export const firstWitness = (
  action: LivingAction,
  outcome: ExecutionOutcome,
  verdict: WitnessVerdict,
  at: Timestamp,
): readonly ActionEvent[] => [
  { type: 'ActionWitnessed', data: { action: action.submission.action, at, ...verdict } },
  ...(action.lateReport === null ? [] : amendmentByLateReport(action, { outcome, verdict }, action.lateReport, at)),
];

const reportedWitness = (outcome: ExecutionOutcome, reason: string | undefined): WitnessVerdict => {
  if (outcome.status === 'succeeded') {
    const summary = 'The tool reported success; nothing else was checked.';
    return witness('VERIFIED', 'reported', [], summary);
  }
  const summary = 'Nobody can say whether the tool applied the call.';
  const reasons = [reason ?? outcome.error_code ?? 'unknown'];
  return witness('UNVERIFIABLE', 'none', reasons, summary);
};

export const witness = (
  verdict: WitnessVerdict['verdict'],
  method: WitnessVerdict['method'],
  reasons: readonly string[],
  summary: string,
): WitnessVerdict => ({ level: 'L0', verdict, method, reasons, summary, evidence_digest: null, diff_rows: 0 });

/**
 * A rule may require a read-back or a change log from a tool that has none. Then what there is counts as UNVERIFIABLE.
 * A read that contradicts the call stays a MISMATCH: it is worth more than to say that nobody knows.
 */
export const atAskedLevel = (decision: Decision | null, verdict: WitnessVerdict): WitnessVerdict => {
  const asked = decision?.verify;
  if (asked === undefined || verdict.level >= asked || verdict.verdict === 'MISMATCH') return verdict;
  const reasons = [...verdict.reasons, 'verify_level_unmet'];
  const there = verdict.level === 'L0' ? 'nothing but the tool’s own word' : 'nothing but a read of what it changed';
  const summary = `The policy asks for a witness at level ${asked}, and ${there} is there.`;
  return { ...verdict, verdict: 'UNVERIFIABLE', reasons, summary };
};

/**
 * Records the result of a read-back. Several processes may read; the first result becomes the witness. A later one
 * amends it only if the first was UNVERIFIABLE, because of two readings nobody knows which is newer.
 */
export const recordReadBack = (
  { data, metadata }: CommandOf<'RecordReadBack'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { action } = state.submission;
  const at = metadata.now;
  if (awaitsReadBack(state)) {
    return firstWitness(state, state.outcome as ExecutionOutcome, readWitness(state, data), at);
  }
  const isSilent = state.state === 'recorded' && state.readBack !== null && state.witness?.verdict === 'UNVERIFIABLE';
  if (!isSilent || data.verdict === 'UNVERIFIABLE') return [];
  return [amended(action, 'late_read', readWitness(state, data), at)];
};

/**
 * Amends the witness by a read that a person asked for.
 * @throws {DomainError} conflict if the action has not ended yet, nothing ran, or the agent ran it at the edge
 */
export const amendWitness = (
  { data, metadata }: CommandOf<'AmendWitness'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  requireAmendable(state);
  return [amended(state.submission.action, 'asked', readWitness(state, data), metadata.now)];
};

/** @throws {DomainError} conflict if the action has not ended yet, nothing ran, or the agent ran it at the edge */
export const requireAmendable = ({ state, outcome, witness: found, edge }: LivingAction): void => {
  if (state !== 'recorded') throw new DomainError('conflict', { message: NOT_ENDED });
  if (outcome === null || found === null) throw new DomainError('conflict', { message: NOTHING_RAN });
  if (edge !== null) throw new DomainError('conflict', { message: AT_THE_EDGE });
};

const NOT_ENDED = 'This action has no witness yet. Wait for its end: GET /v1/actions/{id}?wait=25.';
const NOTHING_RAN =
  'Nothing ran under this action, so there is nothing to read back. GET /v1/actions/{id} says how it ended.';
const AT_THE_EDGE = 'The agent ran this tool itself, so the service has no read that confirms it.';

/**
 * The amendment by a late report that came after the action was recorded. A report that came before is kept in the
 * state for the witness (`afterLateReport`).
 */
export const amendedByLateReport = (
  action: LivingAction,
  late: ExecutionOutcome,
  at: Timestamp,
): readonly ActionEvent[] => {
  const { state, outcome, witness: verdict } = action;
  if (state !== 'recorded' || outcome === null || verdict === null) return [];
  return amendmentByLateReport(action, { outcome, verdict }, late, at);
};

/**
 * The amendment that a late report causes, if any. A late report is only the tool's own answer, so it amends a witness
 * only if the outcome is `unknown` and the witness UNVERIFIABLE. It does not matter which of witness and report came
 * first.
 */
const amendmentByLateReport = (
  action: LivingAction,
  found: { readonly outcome: ExecutionOutcome; readonly verdict: WitnessVerdict },
  late: ExecutionOutcome,
  at: Timestamp,
): readonly ActionEvent[] => {
  const hasLogSpoken = found.verdict.method === 'change_log' && found.verdict.evidence_digest !== null;
  const isOpen = found.outcome.status === 'unknown' && found.verdict.verdict === 'UNVERIFIABLE' && !hasLogSpoken;
  if (!isOpen || found.verdict.reasons.includes(LATE_REPORT) || !saysMoreThanUnknown(action, late)) return [];
  const said =
    late.status === 'succeeded'
      ? witness(
          'VERIFIED',
          'reported',
          [LATE_REPORT],
          'The tool reported success, after the action had ended as unknown.',
        )
      : witness(
          'UNVERIFIABLE',
          'reported',
          [LATE_REPORT, late.error_code ?? 'unknown'],
          'The tool reported, after the action had ended as unknown, that it did not apply the call.',
        );
  const verdict = { ...atAskedLevel(action.decision, said), evidence_digest: late.result_digest };
  return [amended(action.submission.action, 'late_report', verdict, at)];
};

/**
 * Whether a late report says more than `unknown`. A report of failure counts only if there was one attempt, because it
 * says nothing about other attempts.
 */
export const saysMoreThanUnknown = ({ attempts }: LivingAction, { status }: ExecutionOutcome): boolean =>
  status === 'succeeded' || (status === 'failed' && attempts.length === 1);

const LATE_REPORT = 'late_report';

export const amended = (
  action: ActionId,
  cause: AmendmentCause,
  verdict: WitnessVerdict,
  at: Timestamp,
): ActionEvent => ({
  type: 'WitnessAmended',
  data: { action, cause, at, ...verdict },
});

const readWitness = (
  state: LivingAction,
  { verdict, reasons, evidenceDigest, commitments }: ReadBackResult,
): WitnessVerdict => {
  const found = atAskedLevel(state.decision, {
    level: 'L1',
    verdict,
    method: 'read_back',
    reasons: [...(verdict === 'UNVERIFIABLE' ? whyUnknown(state) : []), ...reasons],
    summary: summaryOf(verdict, reasons),
    evidence_digest: evidenceDigest,
    ...(commitments === undefined ? {} : { commitments }),
    diff_rows: 0,
  });
  return { ...found, reasons: sealable(found.reasons) };
};

const whyUnknown = ({ outcome, readBack }: LivingAction): readonly string[] =>
  outcome?.status === 'unknown' ? [readBack?.reason ?? outcome.error_code ?? 'unknown'] : [];

/**
 * Cuts reasons to the number and length that a deed can hold, because a reason may be a long path of a config. Reasons
 * are ASCII.
 */
const sealable = (reasons: readonly string[]): readonly string[] =>
  [...new Set(reasons)].slice(0, MAX_WITNESS_REASONS).map((reason) => reason.slice(0, MAX_WORD_BYTES));

const NAMED_MAX = 3;

const summaryOf = (verdict: WitnessVerdict['verdict'], reasons: readonly string[]): string => {
  const named = sealable(reasons).slice(0, NAMED_MAX).join(', ');
  const others = reasons.length > NAMED_MAX ? ` and ${reasons.length - NAMED_MAX} more` : '';
  switch (verdict) {
    case 'VERIFIED':
      return 'A read shows what the call should have done.';
    case 'MISMATCH':
      return `A read does not show what the call should have done: ${named}${others}.`;
    case 'UNVERIFIABLE':
      return `A read could not say what the call has done: ${named}${others}.`;
  }
};

export const afterWitness = (action: LivingAction, data: DataOf<'ActionWitnessed'>): LivingAction => ({
  ...action,
  witness: witnessOf(data),
  changeLog: changeLogAfter(action, data),
});

export const afterAmendment = (action: LivingAction, data: DataOf<'WitnessAmended'>): LivingAction => ({
  ...action,
  witness: witnessOf(data),
  changeLog: changeLogAfter(action, data),
  amendedRevision: action.revision,
});

/** Only what the log itself says counts as its word, not that nobody waited for it any longer. */
const changeLogAfter = ({ changeLog }: LivingAction, verdict: WitnessVerdict): LivingAction['changeLog'] => {
  if (verdict.method !== 'change_log') return changeLog;
  if (verdict.evidence_digest !== null) return { ...changeLog, word: 'seen' };
  return verdict.verdict === 'MISMATCH' ? { ...changeLog, word: 'absent' } : changeLog;
};

const witnessOf = (data: WitnessVerdict): WitnessVerdict => {
  const { level, verdict, method, reasons, summary, evidence_digest, diff_rows } = data;
  return { level, verdict, method, reasons, summary, evidence_digest, diff_rows };
};
