import type { Schemas } from '../kernel/client.ts';
import type { ActionStatus, Evidence } from '../kit/badges.tsx';
import type { DeedBody } from './body.ts';

type About = NonNullable<Schemas['Deed']['about']>;
type Outcome = Extract<About, { tool: string }>['outcome'];

/** What a deed is about, to be drawn as in the list of actions. */
export type Told =
  | {
      readonly kind: 'action';
      readonly tool: string;
      /** Id and name of the agent; the name is in no deed. */
      readonly agent: { readonly id: string; readonly name: string | null } | null;
      /** As the badge of the action has it. */
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

/** As the list of deeds tells it. */
export const told = (about: Schemas['Deed']['about']): Told => {
  if (about === null) return { kind: 'unread' };
  if ('admin' in about) return { kind: 'change', change: about.admin, target: about.target };
  const { tool, agent, outcome, level, verdict } = about;
  const witness = level === null || verdict === null ? null : { level, verdict };
  return { kind: 'action', tool, agent, outcome: statusOf(outcome), witness };
};

/** As the bytes of the deed tell it. */
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
  'member.role_changed': 'Role of a member changed',
  'member.removed': 'Member removed',
  'member.references_changed': 'References of a member changed',
  'member.address_set': 'Address of a member set',
  'login_link.issued': 'Sign-in link issued',
  'admin_key.created': 'Admin key made',
  'admin_key.rolled': 'Admin key replaced',
  'admin_key.revoked': 'Admin key revoked',
  'policy.created': 'Policy created',
  'policy.version_added': 'Version of a policy saved',
  'policy.activated': 'Policy activated',
  'policy.deactivated': 'Policy taken out',
  'agent.created': 'Agent made',
  'agent.stopped': 'Agent stopped',
  'agent.suspended': 'Agent suspended',
  'agent.resumed': 'Agent resumed',
  'agent.labels_set': 'Labels of an agent set',
  'agent.budgets_set': 'Budgets of an agent set',
  'agent.intent_mode_set': 'Signing of an agent’s calls set',
  'agent_key.created': 'Key of an agent made',
  'agent_key.rolled': 'Key of an agent replaced',
  'agent_key.revoked': 'Key of an agent revoked',
  'intent_key.added': 'Intent key added',
  'intent_key.removed': 'Intent key removed',
  'connector.created': 'Connector added',
  'connector.updated': 'Connector changed',
  'connector.disabled': 'Connector disabled',
  'connector.deleted': 'Connector removed',
  'connector.credentials_updated': 'Credential of a connector stored',
  'connector.credentials_removed': 'Credential of a connector removed',
  'webhook.created': 'Webhook made',
  'webhook.updated': 'Webhook changed',
  'webhook.secret_rolled': 'Secret of a webhook replaced',
  'webhook.disabled': 'Webhook disabled',
  'webhook.deleted': 'Webhook deleted',
  'file.sealed': 'File sealed',
  'seal_key.revoked': 'Seal key revoked',
};

/** `policy.activated`, in words; a word that this version does not know stands as it is. */
export const changeInWords = (change: string): string => CHANGES[change] ?? change;
