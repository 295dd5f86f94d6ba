import { DomainError, type ActionId, type Timestamp } from '../../kernel/index.js';
import type { ActionCommand, EdgeTerms } from './action.commands.js';
import type { ActionEvent, EdgeReport, ExecutionOutcome } from './action.events.js';
import type { FollowedAction, LivingAction } from './action.state.js';
import { atAskedLevel, hasWitness, witness } from './witness.decider.js';

type CommandOf<Type extends ActionCommand['type']> = Extract<ActionCommand, { type: Type }>;
type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

export const authorized = (action: ActionId, { deadline }: EdgeTerms, at: Timestamp): ActionEvent => ({
  type: 'EdgeAuthorized',
  data: { action, deadline, at },
});

export const isAtTheEdge = ({ edge, outcome }: Pick<FollowedAction, 'edge' | 'outcome'>): boolean =>
  edge !== null && outcome === null;

/**
 * Whether a report would still be accepted. After the deadline it is not, even if no sweeper has ended the action yet.
 */
export const isReportable = (action: LivingAction, at: Timestamp): boolean =>
  isAtTheEdge(action) && at < (action.edge as EdgeTerms).deadline;

/**
 * Records the agent's report: once, and before the deadline. A Stop does not prevent it, because the tool has run.
 * @throws {DomainError} conflict if the action is not at the edge, was already reported, or is past its deadline
 */
export const reportEdge = (
  { data, metadata }: CommandOf<'ReportEdge'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { edge, submission } = state;
  const at = metadata.now;
  if (edge === null || state.outcome !== null) throw new DomainError('conflict', { message: whyNotReported(state) });
  if (at >= edge.deadline) throw new DomainError('conflict', { message: TOO_LATE });
  const { action } = submission;
  const { report } = data;
  const reported: ActionEvent = { type: 'EdgeReported', data: { action, at, ...report } };
  return hasWitness(report) ? [reported, reportedWitness(state, report, at)] : [reported];
};

/** The witness reason of a call that was not reported in time (rule GATE-6). */
const EDGE_LOST = 'edge_lost';

const TOO_LATE =
  'The deadline of this action has passed: its outcome is or will shortly be recorded as unknown, and what was reported is not kept. Check the tool itself.';

const NOT_AT_THE_EDGE =
  'This action was not authorized to run at the edge, so there is no result to report. GET /v1/actions/{id} shows what became of it.';

const whyNotReported = ({ edge, witness: found }: LivingAction): string => {
  if (edge === null) return NOT_AT_THE_EDGE;
  return found?.reasons.includes(EDGE_LOST)
    ? TOO_LATE
    : 'The result of this action was reported already. The first report stands; GET /v1/actions/{id} shows it.';
};

const reportedWitness = (
  { submission, decision }: LivingAction,
  { status, error_code }: EdgeReport,
  at: Timestamp,
): ActionEvent => {
  const verdict =
    status === 'succeeded'
      ? witness(
          'VERIFIED',
          'edge_reported',
          [],
          'The agent that ran the tool reported success; nothing else was checked.',
        )
      : witness(
          'UNVERIFIABLE',
          'edge_reported',
          [error_code ?? 'unknown'],
          'The agent that ran the tool cannot say whether it applied the call.',
        );
  return { type: 'ActionWitnessed', data: { action: submission.action, at, ...atAskedLevel(decision, verdict) } };
};

/** Ends an action that was not reported in time. No events if the report came, or the deadline has not passed. */
export const giveUpEdge = ({ metadata }: CommandOf<'GiveUpEdge'>, state: LivingAction): readonly ActionEvent[] => {
  const { edge, submission } = state;
  const at = metadata.now;
  if (edge === null || !isAtTheEdge(state) || at < edge.deadline) return [];
  const { action } = submission;
  const verdict = witness(
    'UNVERIFIABLE',
    'none',
    [EDGE_LOST],
    'The agent that was to run the tool never said what happened.',
  );
  return [
    { type: 'EdgeLost', data: { action, at } },
    { type: 'ActionWitnessed', data: { action, at, ...verdict } },
  ];
};

export const afterAuthorization = (action: LivingAction, { deadline }: DataOf<'EdgeAuthorized'>): LivingAction => ({
  ...action,
  edge: { deadline },
  state: 'executing',
});

export const afterReport = (action: LivingAction, data: DataOf<'EdgeReported'>): LivingAction => {
  const { status, error_code, error_message, result_digest, started_at, finished_at } = data;
  const latency_ms = Math.max(0, Date.parse(finished_at) - Date.parse(started_at));
  const times = { started_at, finished_at, latency_ms };
  return { ...action, outcome: { status, error_code, error_message, result_digest, ...times }, state: 'witnessing' };
};

export const afterLoss = (action: LivingAction, { at }: DataOf<'EdgeLost'>): LivingAction => {
  const outcome: ExecutionOutcome = {
    status: 'unknown',
    error_code: 'timeout',
    error_message: LOST,
    result_digest: null,
    started_at: null,
    finished_at: at,
    latency_ms: null,
  };
  return { ...action, outcome, state: 'witnessing' };
};

const LOST = 'The agent did not report a result before the deadline. Check the tool itself.';
