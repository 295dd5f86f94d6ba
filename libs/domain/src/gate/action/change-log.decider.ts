import type { CommittedTransaction } from '../../connectors/index.js';
import { DomainError, type Timestamp } from '../../kernel/index.js';
import type { ActionCommand, SilenceReason } from './action.commands.js';
import type { ActionEvent, ChangeLogWord, ExecutionOutcome, WitnessVerdict } from './action.events.js';
import { awaitsChangeLog, currentAttempt, progressOf, type LivingAction } from './action.state.js';
import { contradictionOf, verdictOf } from './change-log-verdict.js';
import { hasChanges } from './seen-transaction.js';
import { amended, firstWitness } from './witness.decider.js';

type CommandOf<Type extends ActionCommand['type']> = Extract<ActionCommand, { type: Type }>;
type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

/**
 * Puts on record what the current attempt is about to do. No events if the same is on record, because an append may be
 * repeated.
 * @throws {DomainError} conflict if the claim is lost, or something else is on record
 */
export const recordProgress = (
  { data, metadata }: CommandOf<'RecordProgress'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const attempt = currentAttempt(state);
  if (attempt?.claim !== data.claim) throw new DomainError('conflict', { message: CLAIM_LOST });
  const known = progressOf(state, attempt.attempt);
  if (known?.said.xid === data.said.xid) return [];
  if (known !== null) throw new DomainError('conflict', { message: SAID_ALREADY });
  const { action } = state.submission;
  const { claim, said } = data;
  return [{ type: 'ExecutionProgress', data: { action, attempt: attempt.attempt, claim, said, at: metadata.now } }];
};

const CLAIM_LOST = 'Another executor has this execution, or it has ended.';
const SAID_ALREADY = 'This attempt has put another statement on record already.';

/**
 * Whether the outcome waits for the change log. An attempt that has put nothing on record has changed nothing that a
 * log could show.
 */
export const waitsForLog = (state: LivingAction, transaction: CommittedTransaction | undefined): boolean =>
  state.ready !== null &&
  state.ready.changeLogTimeoutMs !== null &&
  (transaction !== undefined || state.changeLog.progress.length > 0);

/**
 * The first witness, if the change log spoke before the outcome. The log may speak of an earlier attempt only where the
 * outcome is unknown, which is then said of all attempts together.
 */
export const witnessedBefore = (
  state: LivingAction,
  ended: {
    readonly outcome: ExecutionOutcome;
    readonly attempt: number;
    readonly transaction: CommittedTransaction | null;
  },
  at: Timestamp,
): readonly ActionEvent[] => {
  const { outcome, attempt, transaction } = ended;
  const word = wordAbout(state, attempt) ?? (outcome.status === 'unknown' ? state.changeLog.reported[0] : undefined);
  if (word === undefined) return [];
  return firstWitness(state, outcome, judgedBy(state, word, word.attempt === attempt ? transaction : null), at);
};

/** What the change log showed of that attempt before the outcome was recorded. */
export const wordAbout = ({ changeLog }: LivingAction, attempt: number): ChangeLogWord | undefined =>
  changeLog.reported.find((word) => word.attempt === attempt);

/**
 * The amendment of a call that is about to be recorded as failed, although the log showed that it committed: the
 * outcome says what the executor said, and the amendment what the log says.
 */
export const contradictedBefore = (state: LivingAction, at: Timestamp): readonly ActionEvent[] => {
  const word = state.changeLog.reported.find(({ seen }) => hasChanges(seen));
  return word === undefined ? [] : [contradicted(state, word, at)];
};

const contradicted = (state: LivingAction, word: ChangeLogWord, at: Timestamp): ActionEvent =>
  amended(state.submission.action, 'late_witness', fromLog(contradictionOf(word.seen), word), at);

/**
 * What the change log shows of an attempt. Before the outcome it waits in the stream; after it, it becomes the witness,
 * or amends one that had to do without. A repetition changes nothing: the first word about a transaction is the log's.
 */
export const reportWitness = (
  { data, metadata }: CommandOf<'ReportWitness'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { outcome, changeLog } = state;
  const at = metadata.now;
  if (progressOf(state, data.attempt) === null || wordAbout(state, data.attempt) !== undefined) return [];
  if (changeLog.word === 'seen') return [];
  if (outcome === null) return [{ type: 'WitnessReported', data: { action: state.submission.action, ...data, at } }];
  if (outcome.status === 'failed') return hasChanges(data.seen) ? [contradicted(state, data, at)] : [];
  const { finished } = changeLog;
  const isItsOwn = finished?.attempt === data.attempt;
  if (!isItsOwn && outcome.status !== 'unknown') return [];
  const verdict = judgedBy(state, data, isItsOwn ? (finished?.transaction ?? null) : null);
  if (awaitsChangeLog(state)) return firstWitness(state, outcome, verdict, at);
  if (state.state !== 'recorded' || state.witness === null) return [];
  return [amended(state.submission.action, 'late_witness', verdict, at)];
};

/** The log has passed the place of the commit. It can say so only of a transaction whose place is known. */
export const recordAbsence = (
  { metadata }: CommandOf<'RecordAbsence'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { outcome, changeLog, submission } = state;
  if (outcome === null || outcome.status === 'failed') return [];
  if (changeLog.word !== null || (changeLog.finished?.transaction ?? null) === null) return [];
  if (awaitsChangeLog(state)) return firstWitness(state, outcome, ABSENT, metadata.now);
  if (state.state !== 'recorded' || state.witness === null) return [];
  return [amended(submission.action, 'late_witness', ABSENT, metadata.now)];
};

/** No events if the log has spoken, or its time is not over yet. */
export const giveUpWitness = (
  { data, metadata }: CommandOf<'GiveUpWitness'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { outcome, changeLog } = state;
  if (!awaitsChangeLog(state) || outcome === null || changeLog.awaited === null) return [];
  if (data.reason === 'timeout' && metadata.now < changeLog.awaited.until) return [];
  return firstWitness(state, outcome, silent(data.reason), metadata.now);
};

const judgedBy = (
  state: LivingAction,
  word: ChangeLogWord,
  transaction: CommittedTransaction | null,
): WitnessVerdict => {
  const progress = progressOf(state, word.attempt);
  // A word about an attempt without progress is never recorded.
  if (progress === null) throw new DomainError('conflict');
  return fromLog(verdictOf(progress.said, transaction, word.seen, word.postcondition), word);
};

const fromLog = (
  judgement: ReturnType<typeof verdictOf>,
  { evidence_digest, commitments }: ChangeLogWord,
): WitnessVerdict => ({
  level: 'L2',
  method: 'change_log',
  evidence_digest,
  ...(commitments === undefined ? {} : { commitments }),
  ...judgement,
});

const WITHOUT_EVIDENCE = { level: 'L2', method: 'change_log', evidence_digest: null, diff_rows: 0 } as const;

const ABSENT: WitnessVerdict = {
  ...WITHOUT_EVIDENCE,
  verdict: 'MISMATCH',
  reasons: ['transaction_missing'],
  summary: 'The database’s change log has passed the place where the transaction must be, and does not show it.',
};

const silent = (reason: SilenceReason): WitnessVerdict => ({
  ...WITHOUT_EVIDENCE,
  verdict: 'UNVERIFIABLE',
  reasons: [reason],
  summary: WHY_SILENT[reason],
});

const WHY_SILENT: Readonly<Record<SilenceReason, string>> = {
  timeout: 'The database’s change log did not show the transaction in time.',
  slot_lagging: 'The database’s change log is read too far behind to show the transaction in time.',
  slot_invalidated: 'The database has dropped the part of its change log that would show the transaction.',
  decoder_down: 'Nobody reads the database’s change log, so it cannot show the transaction.',
  log_restored: 'The database was restored or has failed over, so its change log does not show what was before.',
};

export const afterProgress = (action: LivingAction, data: DataOf<'ExecutionProgress'>): LivingAction => ({
  ...action,
  changeLog: { ...action.changeLog, progress: [...action.changeLog.progress, data] },
});

export const afterReportedWitness = (action: LivingAction, data: DataOf<'WitnessReported'>): LivingAction => {
  const { attempt, seen, postcondition, evidence_digest, commitments } = data;
  const known = { attempt, seen, postcondition, evidence_digest };
  const word: ChangeLogWord = commitments === undefined ? known : { ...known, commitments };
  return { ...action, changeLog: { ...action.changeLog, reported: [...action.changeLog.reported, word] } };
};

/** What the outcome says of the change log. Most actions keep what they all share. */
export const changeLogAfterFinish = (
  { changeLog }: LivingAction,
  { attempt, transaction, change_log }: DataOf<'ExecutionFinished'>,
): LivingAction['changeLog'] => {
  if (change_log === undefined && transaction === undefined && changeLog.progress.length === 0) return changeLog;
  return { ...changeLog, awaited: change_log ?? null, finished: { attempt, transaction: transaction ?? null } };
};
