import { digestOfJson, MAX_SIGNATURES, type DeedBody } from '#libs/crypto';
import type { Approval, LivingAction } from '../gate/index.js';
import type { Actor } from '../kernel/index.js';
import type { AdminAct } from './admin-deed.js';

/**
 * What a deed says, before it gets its place in the chain (docs/deed-format.md). Members are in snake case because the
 * format's are.
 */
export type DeedSections = Pick<
  DeedBody,
  'kind' | 'who' | 'action' | 'policy' | 'approval' | 'execution' | 'witness' | 'cost' | 'admin'
>;

/** The sections of an action's deed. Members are in the order of RFC 8785, in which they are written. */
export const actionSections = (action: LivingAction): DeedSections => {
  const { submission } = action;
  return {
    action: {
      args_digest: submission.args_digest,
      connector: submission.connector,
      created_at: action.createdAt,
      id: submission.action,
      livemode: submission.livemode,
      mode: submission.mode,
      request_digest: submission.request_digest,
      tool: submission.tool,
      tool_digest: submission.tool_digest,
      tool_truncated: submission.tool_truncated,
    },
    admin: null,
    approval: approvalSection(action),
    cost: null,
    execution: executionSection(action),
    kind: 'action',
    policy: policySection(action),
    who: {
      actor: { id: submission.agent, type: 'agent' },
      agent: submission.agent,
      intent_hash: submission.intent_hash,
      intent_signed: submission.intent_signed,
      key: submission.key,
      on_behalf_of: submission.on_behalf_of,
      session: submission.session,
    },
    witness: witnessSection(action),
  };
};

const policySection = ({ decision, decidedAt, submission }: LivingAction): DeedSections['policy'] => {
  if (!decision || decidedAt === null) return null;
  const { code, message, outcome, policy, policy_version, reason, rule_id, source } = decision;
  const { input_digest } = submission;
  return {
    code,
    decided_at: decidedAt,
    input_digest,
    message,
    outcome,
    policy,
    policy_version,
    reason,
    rule_id,
    source,
  };
};

/**
 * Null for an action without an approval, or while the approval is pending; an action with a pending approval has no
 * deed.
 */
const approvalSection = ({ approval }: LivingAction): DeedSections['approval'] => {
  if (approval === null || approval.status === 'pending' || approval.decidedAt === null) return null;
  const { terms, status, decidedAt, decidedBy, decidedUnder } = approval;
  return {
    context_digest: decidedUnder ?? terms.context_digest,
    countersigned: signaturesOf(approval),
    decided_at: decidedAt,
    decided_by: decidedBy === null ? null : { id: decidedBy.id, type: decidedBy.type },
    expires_at: terms.expires_at,
    id: terms.approval,
    required: terms.required,
    status,
  };
};

type Signature = NonNullable<DeedSections['approval']>['countersigned'][number];

/**
 * The latest signature of each person. For an approved action, those that counted; for any other, all that were given.
 */
const signaturesOf = ({ status, signatures, counted }: Approval): Signature[] => {
  const latest = new Map<string, Signature>();
  for (const { at, by } of signatures) {
    if (status === 'approved' && !counted.includes(by)) continue;
    latest.delete(by);
    latest.set(by, { at, by });
  }
  return [...latest.values()].slice(-MAX_SIGNATURES);
};

const executionSection = ({ outcome, attempts }: LivingAction): DeedSections['execution'] => {
  if (!outcome) return null;
  const { error_code, finished_at, result_digest, started_at, status } = outcome;
  return { attempts: attempts.length, error_code, finished_at, result_digest, started_at, status };
};

const witnessSection = ({ witness }: LivingAction): DeedSections['witness'] => {
  if (!witness) return null;
  const { evidence_digest, level, method, reasons, verdict } = witness;
  return { evidence_digest, level, method, reasons: [...reasons], verdict };
};

/** The sections of an amendment: the action, the actor of the later evidence, and the verdict as it is now. */
export const amendmentSections = (action: LivingAction, actor: Actor): DeedSections => {
  const sections = actionSections(action);
  const { agent } = action.submission;
  return {
    ...sections,
    kind: 'amendment',
    policy: null,
    execution: null,
    who: {
      actor: { ...actor },
      agent,
      intent_hash: null,
      intent_signed: null,
      key: actor.type === 'admin_key' ? actor.id : null,
      on_behalf_of: null,
      session: null,
    },
  };
};

/**
 * The sections of an admin deed. Data is sealed by digest only: no name, label or address is ever in an admin deed
 * (rule DEED-12).
 */
export const adminSections = (act: AdminAct, actor: Actor): DeedSections => ({
  kind: 'admin',
  who: {
    actor: { ...actor },
    agent: actor.type === 'agent' ? actor.id : null,
    key: actor.type === 'admin_key' ? actor.id : null,
    on_behalf_of: null,
    session: null,
    intent_signed: null,
    intent_hash: null,
  },
  action: null,
  policy: null,
  approval: null,
  execution: null,
  witness: null,
  cost: null,
  admin: {
    action: act.action,
    target: { ...act.target },
    reason: act.reason,
    data_digest: digestOfJson(act.data),
  },
});
