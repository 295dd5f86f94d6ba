import {
  canonicalize,
  commitUnder,
  digestOfJson,
  MAX_SIGNATURES,
  type CommittedValue,
  DEED_VERSION,
  type Digest,
  FIRST_DEED_VERSION,
  type FirstDeedBody,
  type SaltedDeedBody,
  type Salt,
} from '#libs/crypto';
import { type Approval, commitmentTo, digestOfText, type LivingAction } from '../gate/index.js';
import type { Actor } from '../kernel/index.js';
import type { AdminAct } from './admin-deed.js';

type Section = 'v' | 'kind' | 'who' | 'action' | 'policy' | 'approval' | 'execution' | 'witness' | 'cost' | 'admin';

/** The sections of a deed with plain digests, as versions before salted commitments sealed them. */
export type FirstSections = Pick<FirstDeedBody, Section>;

/** The sections of a deed that holds commitments. */
export type SaltedSections = Pick<SaltedDeedBody, Section>;

/**
 * What a deed says, before it gets its place in the chain (docs/deed-format.md). Members are in snake case because the
 * format's are.
 */
export type DeedSections = FirstSections | SaltedSections;

export type DeedVersion = DeedSections['v'];

/** Thrown within this file: the events of an action say nothing that a deed could hold in place of a digest. */
class Uncommitted extends Error {}

/**
 * The sections in the newest format that the events allow: events of older versions have no salts, and a plain digest
 * must never stand where a reader takes it for a commitment.
 */
const newest = (salted: () => SaltedSections, first: () => FirstSections): DeedSections => {
  try {
    return salted();
  } catch (error) {
    if (error instanceof Uncommitted) return first();
    throw error;
  }
};

/** The sections of an action's deed. */
export const actionSections = (action: LivingAction): DeedSections =>
  newest(
    () => saltedActionSections(action),
    () => firstActionSections(action),
  );

/** The sections of an amendment: the action, the actor of the later evidence, and the verdict as it is now. */
export const amendmentSections = (action: LivingAction, actor: Actor): DeedSections =>
  newest(
    () => ({ ...saltedActionSections(action), ...ofAmendment(action, actor) }),
    () => ({ ...firstActionSections(action), ...ofAmendment(action, actor) }),
  );

// The members of each object are written out, in the order of RFC 8785: an object that is spread and then gets another member
// has a hidden class of its own for each call (docs/performance.md).

/** As {@link actionSections}, in the format that a deed of an older version is in. */
export const firstActionSections = (action: LivingAction): FirstSections => {
  const { submission, witness } = action;
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
    approval: firstApprovalSection(action),
    cost: costOf(action),
    execution: firstExecutionSection(action),
    kind: 'action',
    policy: policySection(action, submission.input_digest),
    v: FIRST_DEED_VERSION,
    who: whoOf(action),
    witness: witnessSection(action, witness?.evidence_digest ?? null),
  };
};

/** What the call has spent; null where it spent nothing, or nobody could say. */
const costOf = ({ outcome }: LivingAction): FirstSections['cost'] =>
  outcome?.cost === undefined ? null : { amount: outcome.cost.amount, currency: outcome.cost.currency };

export const firstAmendmentSections = (action: LivingAction, actor: Actor): FirstSections => ({
  ...firstActionSections(action),
  ...ofAmendment(action, actor),
});

type Held = (value: CommittedValue, digest: Digest) => Digest;

const saltedActionSections = (action: LivingAction): SaltedSections => {
  const { submission, witness } = action;
  const held: Held = (value, digest) => {
    const commitment = commitmentTo(action, value, digest);
    if (commitment === null) throw new Uncommitted();
    return commitment;
  };
  const evidence = witness?.evidence_digest ?? null;
  return {
    action: {
      args_digest: held('args', submission.args_digest),
      connector: submission.connector,
      created_at: action.createdAt,
      id: submission.action,
      livemode: submission.livemode,
      mode: submission.mode,
      request_digest: held('request', submission.request_digest),
      tool: submission.tool,
      tool_digest: submission.tool_digest,
      tool_truncated: submission.tool_truncated,
      undo_of: null,
    },
    admin: null,
    approval: saltedApprovalSection(action, held),
    cost: costOf(action),
    execution: saltedExecutionSection(action, held),
    kind: 'action',
    policy: policySection(action, held('input', submission.input_digest)),
    v: DEED_VERSION,
    who: whoOf(action),
    // The evidence of a late report is the result that it reported.
    witness: witnessSection(
      action,
      evidence && (commitmentTo(action, 'evidence', evidence) ?? held('result', evidence)),
    ),
  };
};

const whoOf = ({ submission }: LivingAction): DeedSections['who'] => ({
  actor: { id: submission.agent, type: 'agent' },
  agent: submission.agent,
  intent_hash: submission.intent_hash,
  intent_signed: submission.intent_signed,
  key: submission.key,
  on_behalf_of: submission.on_behalf_of,
  session: submission.session,
});

const policySection = ({ decision, decidedAt }: LivingAction, input_digest: Digest): DeedSections['policy'] => {
  if (!decision || decidedAt === null) return null;
  const { code, message, outcome, policy, policy_version, reason, rule_id, source } = decision;
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
const decided = ({ approval }: LivingAction) => {
  if (approval === null || approval.status === 'pending' || approval.decidedAt === null) return null;
  const { terms, status, decidedAt, decidedBy, decidedUnder, reason } = approval;
  return { approval, status, terms, decidedAt, decidedBy, reason, context: decidedUnder ?? terms.context_digest };
};

const firstApprovalSection = (action: LivingAction): FirstSections['approval'] => {
  const found = decided(action);
  if (found === null) return null;
  const { approval, status, terms, decidedAt, decidedBy, context } = found;
  return {
    context_digest: context,
    countersigned: signaturesOf(approval).map(({ at, by }) => ({ at, by })),
    decided_at: decidedAt,
    decided_by: decidedBy === null ? null : { id: decidedBy.id, type: decidedBy.type },
    expires_at: terms.expires_at,
    id: terms.approval,
    required: terms.required,
    status,
  };
};

const saltedApprovalSection = (action: LivingAction, held: Held): SaltedSections['approval'] => {
  const found = decided(action);
  if (found === null) return null;
  const { approval, status, terms, decidedAt, decidedBy, context, reason } = found;
  const reasonOf = (text: string | null): Digest | null => (text === null ? null : held('reason', digestOfText(text)));
  const assertionOf = (digest: Digest | undefined): Digest | null =>
    digest === undefined ? null : held('assertion', digest);
  return {
    context_digest: held('context', context),
    countersigned: signaturesOf(approval).map((signature) => ({
      assertion: assertionOf(signature.assertion_digest),
      at: signature.at,
      by: signature.by,
      context: held('context', signature.context_digest),
      reason: reasonOf(signature.reason),
    })),
    decided_at: decidedAt,
    decided_by:
      decidedBy === null
        ? null
        : {
            assertion: assertionOf(approval.decidedWith),
            id: decidedBy.id,
            reason: reasonOf(reason),
            type: decidedBy.type,
          },
    expires_at: terms.expires_at,
    id: terms.approval,
    required: terms.required,
    status,
  };
};

/**
 * The latest signature of each person. For an approved action, those that counted; for any other, all that were given.
 */
const signaturesOf = ({ status, signatures, counted }: Approval): Approval['signatures'][number][] => {
  const latest = new Map<string, Approval['signatures'][number]>();
  for (const signature of signatures) {
    const { by } = signature;
    if (status === 'approved' && !counted.includes(by)) continue;
    latest.delete(by);
    latest.set(by, signature);
  }
  return [...latest.values()].slice(-MAX_SIGNATURES);
};

const firstExecutionSection = ({ outcome, attempts }: LivingAction): FirstSections['execution'] => {
  if (!outcome) return null;
  const { error_code, finished_at, result_digest, started_at, status } = outcome;
  return { attempts: attempts.length, error_code, finished_at, result_digest, started_at, status };
};

const saltedExecutionSection = (
  { attempts, commitments, outcome, submission }: LivingAction,
  held: Held,
): SaltedSections['execution'] => {
  if (!outcome) return null;
  const { error_code, error_message: message, finished_at, result_digest: result, started_at, status } = outcome;
  return {
    attempts: attempts.length,
    error_code,
    finished_at,
    first_sent_at: attempts[0]?.at ?? null,
    // Sentences of recovery follow from the code, and no handler has committed to them.
    message: message === null ? null : commitmentTo({ commitments, submission }, 'message', digestOfText(message)),
    result_digest: result === null ? null : held('result', result),
    started_at,
    status,
  };
};

const witnessSection = ({ witness }: LivingAction, evidence_digest: Digest | null): DeedSections['witness'] => {
  if (!witness) return null;
  const { level, method, reasons, verdict } = witness;
  return { evidence_digest, level, method, reasons: [...reasons], verdict };
};

const ofAmendment = ({ submission }: LivingAction, actor: Actor) => ({
  kind: 'amendment' as const,
  policy: null,
  execution: null,
  who: {
    actor: { ...actor },
    agent: submission.agent,
    intent_hash: null,
    intent_signed: null,
    key: actor.type === 'admin_key' ? actor.id : null,
    on_behalf_of: null,
    session: null,
  },
});

/**
 * The sections of an admin deed. Of its data only a commitment is sealed: no name, label or address is ever in an admin
 * deed (rule DEED-12).
 * @param salt of the event; undefined in events of versions that sealed plain digests
 */
export const adminSections = (act: AdminAct, actor: Actor, salt: Salt | undefined): DeedSections =>
  salt === undefined
    ? firstAdminSections(act, actor)
    : {
        ...ofAdmin(act, actor, commitUnder(salt, 'data', canonicalize(act.data))),
        v: DEED_VERSION,
      };

/** As {@link adminSections}, in the format that a deed of an older version is in. */
export const firstAdminSections = (act: AdminAct, actor: Actor): FirstSections => ({
  ...ofAdmin(act, actor, digestOfJson(act.data)),
  v: FIRST_DEED_VERSION,
});

const ofAdmin = (act: AdminAct, actor: Actor, data_digest: Digest) => ({
  kind: 'admin' as const,
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
  admin: { action: act.action, target: { ...act.target }, reason: act.reason, data_digest },
});
