import { DomainError, type ActionId, type Timestamp, type UserId } from '../../kernel/index.js';
import type { ActionCommand } from './action.commands.js';
import type { ActionEvent, ApprovalTerms, ApproverAnswer } from './action.events.js';
import type { Approval, FollowedAction, LivingAction } from './action.state.js';
import { authorized } from './edge.decider.js';
import { madeReady } from './execution.decider.js';

type CommandOf<Type extends ActionCommand['type']> = Extract<ActionCommand, { type: Type }>;
type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

export const requested = (action: ActionId, terms: ApprovalTerms, at: Timestamp): ActionEvent => ({
  type: 'ApprovalRequested',
  data: { action, at, ...terms },
});

export const isPending = ({ approval }: Pick<FollowedAction, 'approval'>): boolean => approval?.status === 'pending';

/**
 * Adds a signature and, if it is the last one needed, makes the call ready to run. All events go in one append, so that
 * a crash cannot separate the approval from its execution. The caller has checked that the person may sign, and which
 * earlier signatures still count.
 * @throws {DomainError} not_found, approval_expired, approval_decided, already_countersigned, approval_needs_passkey
 */
export const countersign = (
  { data, metadata }: CommandOf<'Countersign'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { answer, stillCounting, required, toolDigest, run } = data;
  const { terms } = openApproval(state, data, metadata.now);
  if (stillCounting.includes(answer.by)) throw new DomainError('already_countersigned');
  if (!hasNeededAssertion(state, answer)) throw new DomainError('approval_needs_passkey');
  const { action, org, connector } = state.submission;
  const at = metadata.now;
  const { approval } = terms;
  const signed: ActionEvent = { type: 'ApprovalCountersigned', data: { action, approval, at, ...answer } };
  const counted = [...new Set<UserId>([...stillCounting, answer.by])];
  if (counted.length < Math.max(terms.required, required)) return [signed];
  const decided: ActionEvent = {
    type: 'ApprovalDecided',
    data: { action, approval, outcome: 'approved', tool_digest: toolDigest, counted, at, ...answer },
  };
  if ('edge' in run) return [signed, decided, authorized(action, run.edge, at)];
  return [signed, decided, madeReady(action, run.execution, at, { org, connector })];
};

/**
 * One denial ends the approval, even after signatures.
 * @throws {DomainError} not_found, approval_expired, approval_decided
 */
export const denyApproval = (
  { data, metadata }: CommandOf<'DenyApproval'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { terms } = openApproval(state, data, metadata.now);
  const { action } = state.submission;
  const { approval } = terms;
  const outcome = 'denied' as const;
  const at = metadata.now;
  return [{ type: 'ApprovalDecided', data: { action, approval, outcome, tool_digest: null, at, ...data.answer } }];
};

/** Expires a pending approval. No events if it is already decided or not yet due. */
export const expireApproval = (
  { metadata }: CommandOf<'ExpireApproval'>,
  state: LivingAction,
): readonly ActionEvent[] => {
  const { approval, submission } = state;
  if (approval?.status !== 'pending' || metadata.now < approval.terms.expires_at) return [];
  const data = { action: submission.action, approval: approval.terms.approval, at: metadata.now };
  return [{ type: 'ApprovalExpired', data }];
};

/**
 * Only an action that waits for approval can be cancelled (rule GATE-6).
 * @throws {DomainError} conflict
 */
export const cancel = ({ metadata }: CommandOf<'CancelAction'>, state: LivingAction): readonly ActionEvent[] => {
  const { approval, submission } = state;
  if (approval?.status !== 'pending') throw new DomainError('conflict', { message: whyNotCancelled(state) });
  if (metadata.now >= approval.terms.expires_at) throw new DomainError('conflict', { message: EXPIRED });
  const data = { action: submission.action, approval: approval.terms.approval, by: metadata.actor, at: metadata.now };
  return [{ type: 'ActionCancelled', data }];
};

/**
 * Whether the signatures so far support the decision: an approval counts enough people, each of whom has signed; a
 * denial needs no signature. False if no approval was requested.
 */
export const hasNeededSignatures = (
  { approval }: Pick<FollowedAction, 'approval'>,
  { outcome, counted = [] }: Pick<DataOf<'ApprovalDecided'>, 'outcome' | 'counted'>,
): boolean => {
  if (approval === null || outcome === 'denied') return approval !== null;
  const signers = new Set(approval.signatures.map(({ by }) => by));
  const people = new Set(counted);
  return people.size >= approval.terms.required && [...people].every((person) => signers.has(person));
};

/** Whether a yes has what a passkey signed, where the approval is given so alone. A no may always be said without. */
export const hasNeededAssertion = (
  { approval }: Pick<FollowedAction, 'approval'>,
  { assertion_digest }: Pick<ApproverAnswer, 'assertion_digest'>,
): boolean => approval?.terms.signed === undefined || assertion_digest !== undefined;

const EXPIRED = 'The approval of this action has expired, and nothing was run. There is nothing left to cancel.';

const whyNotCancelled = ({ state }: LivingAction): string =>
  state === 'recorded'
    ? 'This action has ended and cannot be cancelled. GET /v1/actions/{id} says how.'
    : 'This action is already executing and cannot be cancelled. Wait for its end: GET /v1/actions/{id}?wait=25.';

/** @throws {DomainError} not_found, approval_expired, approval_decided */
const openApproval = (
  { approval }: LivingAction,
  { approval: asked }: { readonly approval: ApprovalTerms['approval'] },
  now: Timestamp,
): Approval => {
  if (approval?.terms.approval !== asked) throw new DomainError('not_found');
  if (approval.status === 'expired') throw new DomainError('approval_expired');
  if (approval.status !== 'pending') throw new DomainError('approval_decided');
  if (now >= approval.terms.expires_at) throw new DomainError('approval_expired');
  return approval;
};

export const afterRequest = (action: LivingAction, data: DataOf<'ApprovalRequested'>): LivingAction => {
  const { approval, rule_id, approvers, required, context_digest, expires_at, signed, at } = data;
  const plain = { approval, rule_id, approvers, required, context_digest, expires_at };
  const terms = signed === undefined ? plain : { ...plain, signed };
  const undecided = {
    decidedAt: null,
    decidedBy: null,
    reason: null,
    decidedUnder: null,
    counted: [],
    toolDigest: null,
  };
  return {
    ...action,
    state: 'pending_approval',
    approval: { terms, requestedAt: at, status: 'pending', signatures: [], ...undecided },
  };
};

export const afterSignature = (action: LivingAction, data: DataOf<'ApprovalCountersigned'>): LivingAction => {
  const { by, via, context_digest, reason, assertion_digest, at } = data;
  const plain = { by, via, context_digest, reason, at };
  const signature = assertion_digest === undefined ? plain : { ...plain, assertion_digest };
  return withApproval(action, (approval) => ({ ...approval, signatures: [...approval.signatures, signature] }));
};

export const afterApprovalDecision = (action: LivingAction, data: DataOf<'ApprovalDecided'>): LivingAction => {
  const { outcome, by, reason, context_digest: decidedUnder, counted = [], tool_digest: toolDigest, at } = data;
  const { assertion_digest: decidedWith } = data;
  const decided = withApproval(action, (approval) => ({
    ...approval,
    status: outcome,
    decidedAt: at,
    decidedBy: { type: 'user', id: by },
    reason,
    decidedUnder,
    ...(decidedWith === undefined ? {} : { decidedWith }),
    counted,
    toolDigest,
  }));
  return { ...decided, state: 'executing' };
};

export const afterExpiry = (action: LivingAction, { at }: DataOf<'ApprovalExpired'>): LivingAction =>
  withApproval(action, (approval) => ({ ...approval, status: 'expired', decidedAt: at }));

export const afterCancel = (action: LivingAction, { by, at }: DataOf<'ActionCancelled'>): LivingAction =>
  withApproval(action, (approval) => ({ ...approval, status: 'cancelled', decidedAt: at, decidedBy: by }));

const withApproval = (action: LivingAction, change: (approval: Approval) => Approval): LivingAction =>
  action.approval === null ? action : { ...action, approval: change(action.approval) };
