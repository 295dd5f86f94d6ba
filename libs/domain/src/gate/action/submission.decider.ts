import { DomainError } from '../../kernel/index.js';
import type { ActionCommand } from './action.commands.js';
import type { ActionEvent, BudgetCharge, ShadowDecision } from './action.events.js';
import { NO_CHANGE_LOG, type Action, type LivingAction } from './action.state.js';
import { requested } from './approval.decider.js';
import { authorized } from './edge.decider.js';
import { madeReady, startedAtOnce } from './execution.decider.js';

type SubmitAction = Extract<ActionCommand, { type: 'SubmitAction' }>;
type AbandonSubmission = Extract<ActionCommand, { type: 'AbandonSubmission' }>;
type ActionSubmitted = Extract<ActionEvent, { type: 'ActionSubmitted' }>;
type ActionDecided = Extract<ActionEvent, { type: 'ActionDecided' }>;

/** The events of a new action. */
export const submit = ({ data, metadata }: SubmitAction, state: Action): readonly ActionEvent[] => {
  if (state.state !== 'none') throw new DomainError('conflict');
  const { submission, decision, shadow, execution, claimant, edge, approval, charges = [] } = data;
  const { action } = submission;
  const at = metadata.now;
  const accepted: ActionEvent[] = [
    { type: 'ActionSubmitted', data: { at, ...submission } },
    decided({ action, decision, at }, shadow ?? null, charges),
  ];
  if (approval) accepted.push(requested(action, approval, at));
  if (edge) accepted.push(authorized(action, edge, at));
  if (!execution) return accepted;
  accepted.push(madeReady(action, execution, at));
  if (claimant) accepted.push(startedAtOnce(action, execution, claimant, at));
  return accepted;
};

/** Leaves out members without a value, because most calls have neither shadow nor charges. */
const decided = (
  said: Pick<ActionDecided['data'], 'action' | 'decision' | 'at'>,
  shadow: ShadowDecision | null,
  charges: readonly BudgetCharge[],
): ActionEvent => {
  const { action, decision, at } = said;
  if (charges.length === 0) {
    return { type: 'ActionDecided', data: shadow ? { action, decision, shadow, at } : { action, decision, at } };
  }
  const charged = { action, decision, charges, at };
  return { type: 'ActionDecided', data: shadow ? { shadow, ...charged } : charged };
};

/** Closes an id that has no events, so that a submission under it fails. */
export const abandon = ({ data, metadata }: AbandonSubmission, state: Action): readonly ActionEvent[] => {
  if (state.state !== 'none') return [];
  return [{ type: 'SubmissionAbandoned', data: { action: data.action, at: metadata.now } }];
};

export const afterSubmission = (data: ActionSubmitted['data']): LivingAction => {
  const { at, ...submission } = data;
  const undecided = {
    decision: null,
    shadow: null,
    decidedAt: null,
    charges: [],
    ready: null,
    approval: null,
    edge: null,
  };
  const unrun = {
    attempts: [],
    outcome: null,
    readBack: null,
    changeLog: NO_CHANGE_LOG,
    lateReport: null,
    witness: null,
  };
  const unsealed = { commitments: [], revision: 0, sealingRevision: null, amendedRevision: null };
  return { state: 'executing', submission, createdAt: at, ...undecided, ...unrun, ...unsealed };
};

export const afterDecision = (
  action: LivingAction,
  { decision, shadow, charges = [], at }: ActionDecided['data'],
): LivingAction => ({
  ...action,
  decision,
  shadow: shadow ?? null,
  decidedAt: at,
  charges,
});
