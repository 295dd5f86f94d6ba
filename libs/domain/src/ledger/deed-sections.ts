import { digestOfJson, type DeedBody } from '#libs/crypto';
import type { LivingAction } from '../gate/index.js';
import type { Actor } from '../kernel/index.js';
import type { AdminAct } from './admin-deed.js';

/** What a deed says, before it gets its place in the chain (docs/deed-format.md). Members are snake case: they are the format's. */
export type DeedSections = Pick<
  DeedBody,
  'kind' | 'who' | 'action' | 'policy' | 'approval' | 'execution' | 'witness' | 'cost' | 'admin'
>;

export const actionSections = (action: LivingAction): DeedSections => {
  const { submission } = action;
  return {
    kind: 'action',
    who: {
      actor: { type: 'agent', id: submission.agent },
      agent: submission.agent,
      key: submission.key,
      on_behalf_of: submission.on_behalf_of,
      session: submission.session,
      intent_signed: submission.intent_signed,
      intent_hash: submission.intent_hash,
    },
    action: {
      id: submission.action,
      tool: submission.tool,
      tool_truncated: submission.tool_truncated,
      mode: submission.mode,
      livemode: submission.livemode,
      connector: submission.connector,
      tool_digest: submission.tool_digest,
      args_digest: submission.args_digest,
      request_digest: submission.request_digest,
      created_at: action.createdAt,
    },
    policy: policySection(action),
    approval: null,
    execution: executionSection(action),
    witness: witnessSection(action),
    cost: null,
    admin: null,
  };
};

const policySection = ({ decision, decidedAt, submission }: LivingAction): DeedSections['policy'] =>
  decision && decidedAt !== null ? { ...decision, input_digest: submission.input_digest, decided_at: decidedAt } : null;

const executionSection = ({ outcome, attempts }: LivingAction): DeedSections['execution'] => {
  if (!outcome) return null;
  const { status, error_code, result_digest, started_at, finished_at } = outcome;
  return { status, attempts: attempts.length, error_code, result_digest, started_at, finished_at };
};

const witnessSection = ({ witness }: LivingAction): DeedSections['witness'] => {
  if (!witness) return null;
  const { level, verdict, method, reasons, evidence_digest } = witness;
  return { level, verdict, method, reasons: [...reasons], evidence_digest };
};

/** Data is sealed by digest only: no name, label or address ever stands in an admin deed (document 2, Admin deeds). */
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
