import type { Schemas } from '../kernel/client.ts';
import type { ActionStatus, Evidence } from '../kit/badges.tsx';
import type { DeedBody } from './body.ts';

type About = NonNullable<Schemas['Deed']['about']>;
type Outcome = Extract<About, { tool: string }>['outcome'];

/** What a deed is about, in the form that the list of deeds shows. */
export type Told =
  | {
      readonly kind: 'action';
      readonly tool: string;
      /** The agent's id and name; null for the name if only the deed's bytes are known, which hold no name. */
      readonly agent: { readonly id: string; readonly name: string | null } | null;
      /** In the form that the action's badge takes. */
      readonly outcome: {
        readonly status: ActionStatus;
        readonly execution: { readonly status: string } | null;
      } | null;
      readonly witness: Evidence | null;
    }
  | {
      readonly kind: 'change';
      readonly change: string;
      readonly target: { readonly type: string; readonly id: string };
    }
  | { readonly kind: 'unread' };

const statusOf = (outcome: Outcome): Extract<Told, { kind: 'action' }>['outcome'] => {
  if (outcome === null) return null;
  if (outcome === 'succeeded' || outcome === 'unknown') return { status: 'executed', execution: { status: outcome } };
  return { status: outcome, execution: null };
};

/** What a deed is about, from the list of deeds. */
export const told = (about: Schemas['Deed']['about']): Told => {
  if (about === null) return { kind: 'unread' };
  if ('admin' in about) return { kind: 'change', change: about.admin, target: about.target };
  const { tool, agent, outcome, level, verdict } = about;
  const witness = level === null || verdict === null ? null : { level, verdict };
  return { kind: 'action', tool, agent, outcome: statusOf(outcome), witness };
};

/** What a deed is about, from its bytes. */
export const toldBy = ({ action, admin, approval, policy, execution, who, witness }: DeedBody): Told => {
  if (admin !== null) return { kind: 'change', change: admin.action, target: admin.target };
  if (action === null) return { kind: 'unread' };
  const ended = approval === null || approval.status === 'approved' ? null : approval.status;
  const outcome = ended ?? (policy?.outcome === 'deny' ? 'denied' : (execution?.status ?? null));
  return {
    kind: 'action',
    tool: action.tool,
    agent: who.agent === null ? null : { id: who.agent, name: null },
    outcome: statusOf(outcome as Outcome),
    witness: witness && { level: witness.level, verdict: witness.verdict },
  };
};

const CHANGES: Readonly<Record<string, string>> = {
  'org.created': 'Organization created',
  'org.updated': 'Organization changed',
  'org.stopped': 'All agents stopped',
  'org.started': 'All agents started again',
  'member.invited': 'Member invited',
  'member.joined': 'Member joined',
  'member.role_changed': 'Member role changed',
  'member.removed': 'Member removed',
  'member.references_changed': 'Member references changed',
  'member.address_set': 'Member address changed',
  'login_link.issued': 'Sign-in link issued',
  'admin_key.created': 'Admin key created',
  'admin_key.rolled': 'Admin key rolled',
  'admin_key.revoked': 'Admin key revoked',
  'policy.created': 'Policy created',
  'policy.version_added': 'Policy version saved',
  'policy.activated': 'Policy activated',
  'policy.deactivated': 'Policy deactivated',
  'agent.created': 'Agent created',
  'agent.stopped': 'Agent stopped',
  'agent.suspended': 'Agent suspended',
  'agent.resumed': 'Agent resumed',
  'agent.labels_set': 'Agent labels changed',
  'agent.budgets_set': 'Agent budgets changed',
  'agent.intent_mode_set': 'Intent mode of an agent changed',
  'agent_key.created': 'Agent key created',
  'agent_key.rolled': 'Agent key rolled',
  'agent_key.revoked': 'Agent key revoked',
  'intent_key.added': 'Intent key added',
  'intent_key.removed': 'Intent key removed',
  'connector.created': 'Connector created',
  'connector.updated': 'Connector changed',
  'connector.disabled': 'Connector disabled',
  'connector.deleted': 'Connector removed',
  'connector.credentials_updated': 'Connector credential stored',
  'connector.credentials_removed': 'Connector credential destroyed',
  'connector.tools_recorded': 'Tools of a connector recorded',
  'connector.tools_accepted': 'Tools of a connector accepted',
  'webhook.created': 'Webhook created',
  'webhook.updated': 'Webhook changed',
  'webhook.secret_rolled': 'Webhook secret rolled',
  'webhook.disabled': 'Webhook disabled',
  'webhook.deleted': 'Webhook deleted',
  'file.sealed': 'File sealed',
  'checkpoint_key.registered': 'Checkpoint key in use',
  'checkpoint_key.retired': 'Checkpoint key retired',
  'ledger.broken': 'Break of the ledger accepted',
  'witness.added': 'Witness of the ledger added',
  'witness.removed': 'Witness of the ledger removed',
  'witness_policy.changed': 'Quorum of the ledger’s witnesses changed',
  'evidence.exported': 'Evidence exported',
  'seal_key.revoked': 'Seal key revoked',
};

/**
 * The words for an admin change, such as `policy.activated`. A change that this version does not know is returned as it
 * is.
 */
export const changeInWords = (change: string): string => CHANGES[change] ?? change;
