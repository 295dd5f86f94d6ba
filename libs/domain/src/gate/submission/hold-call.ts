import { commitUnder } from '#libs/crypto';
import { saltedPayload, timestampOf, type Payload } from '../../kernel/index.js';
import type { PolicyInput } from '../../policies/index.js';
import { type ApprovalTerms, type Decision, approvalOf } from '../action/index.js';
import {
  contextDocument,
  contextOf,
  signedTerms,
  signersOf,
  type ReviewedTerms,
  calledFor,
  takePlace,
} from '../approvals/index.js';
import type { AdmissionKernel } from './admission-kernel.js';
import type { Judgement } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';

/** A judged call: its decision and, if people are asked, the terms of the approval. */
export interface HeldCall {
  readonly decision: Decision;
  readonly approval: ApprovalTerms | null;
  /** What approvers are shown. To be stored before the event that names its digest is appended. */
  readonly context: Payload | null;
}

/** A call that does not wait for approval. */
export const withoutApproval = (decision: Decision): HeldCall => ({ decision, approval: null, context: null });

/**
 * Makes a call wait if its rule requires an approval (docs/approvals.md). It is refused instead if fewer people could
 * sign than the rule requires (not counting the person the call runs for), because it could never be approved. It is
 * also refused if the agent's limit of waiting calls is reached.
 * @throws {StoreUnavailable}
 */
export const heldCall = (
  gate: AdmissionKernel,
  call: CallAtGate,
  input: PolicyInput,
  { decision, approval }: Judgement,
): Promise<HeldCall> | HeldCall =>
  approval === null ? withoutApproval(decision) : waiting(gate, call, input, { decision, approval });

const waiting = async (
  gate: AdmissionKernel,
  call: CallAtGate,
  input: PolicyInput,
  { decision, approval }: Waiting,
): Promise<HeldCall> => {
  const { id, org, resolved } = call;
  const { approvers, required } = approval;
  const asked = { rule_id: decision.rule_id, approvers, required };
  const terms = signedTerms<ReviewedTerms>(asked, approval.signed ?? org.approvals.signed);
  const able = signersOf(org.members, approvers, await calledFor(gate.people, input.user.ref)).size;
  if (able < required) return withoutApproval(unsatisfiable(decision, tooFew(terms, able)));
  const waiter = { agent: call.agent.agent, action: id, metadata: call.command.metadata };
  if (!(await takePlace(gate, gate.places, waiter)))
    return withoutApproval(tooMany(decision, gate.settings.waitingPerAgentMax, input.now));
  const expiresInS = approval.expiresInS ?? org.approvals.expires_in_s;
  const expiresAt = timestampOf(Date.parse(input.now) + expiresInS * 1000);
  const context = contextOf({ action: id, input, tool: resolved?.tool ?? null, terms, expiresAt });
  const stored = saltedPayload({ owner: id, org: org.org, kind: 'approval_context', ...contextDocument(context) });
  const commitments = { context: commitUnder(stored.salt, 'context', stored.body) };
  return {
    decision,
    approval: { approval: approvalOf(id), ...terms, context_digest: stored.digest, commitments, expires_at: expiresAt },
    context: stored,
  };
};

interface Waiting {
  readonly decision: Decision;
  readonly approval: NonNullable<Judgement['approval']>;
}

const unsatisfiable = (asked: Decision, message: string): Decision => ({
  ...asked,
  outcome: 'deny',
  code: 'approval_unsatisfiable',
  source: 'builtin',
  reason: 'approval_unsatisfiable',
  message,
});

/** The retry time of such a refusal: approvals take people minutes, so an earlier retry would hardly succeed. */
const ASK_AGAIN_AFTER_MS = 60_000;

const tooMany = (asked: Decision, limit: number, now: string): Decision => ({
  ...asked,
  outcome: 'deny',
  code: 'approval_limit_reached',
  source: 'builtin',
  reason: 'approval_limit_reached',
  message:
    `This agent has ${limit} ${limit === 1 ? 'call that waits' : 'calls that wait'} for people, and no more may wait. ` +
    'Wait until people have decided, or cancel what is no longer needed, then send the call with a new Idempotency-Key.',
  retry_at: timestampOf(Date.parse(now) + ASK_AGAIN_AFTER_MS),
});

const tooFew = ({ rule_id, approvers, required }: ReviewedTerms, able: number): string => {
  const asking = rule_id === null ? 'The default of the policy' : `The rule ${rule_id}`;
  const asked = `${required} ${required === 1 ? 'approval' : 'approvals'} of ${named(approvers)}`;
  const members = `${able} ${able === 1 ? 'member' : 'members'}`;
  return (
    `${asking} asks for ${asked}, and ${members} could give one; whom the call runs for is not counted. ` +
    'Ask an admin to invite another approver or change the rule, then send the call with a new Idempotency-Key.'
  );
};

/** How many approvers a message names. */
const NAMED_MAX = 3;

const named = (approvers: readonly string[]): string => {
  const others = approvers.length - NAMED_MAX;
  const first = approvers.slice(0, NAMED_MAX).join(', ');
  return others > 0 ? `${first} and ${others} more` : first;
};
