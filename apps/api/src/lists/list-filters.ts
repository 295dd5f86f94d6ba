// Made from the OpenAPI document by `npm run console:api`; a change here is lost.
import type { FilterForm } from './filter-forms.js';

/** The filters of each list, by the id of its operation and in the order of the document. */
export const LIST_FILTERS = {
  listAgents: { status: { listOf: ['active', 'stopped', 'suspended'] }, q: { is: 'SearchText' } },
  listApprovals: {
    status: { is: 'ApprovalStatusFilter', default: 'pending' },
    action: { is: 'ActionId' },
    agent: { is: 'AgentId' },
    tool: { is: 'ToolName' },
  },
  listConnectorTools: { status: { listOf: ['accepted', 'new', 'changed', 'gone'] } },
  listActions: {
    agent: { is: 'AgentId' },
    key: { is: 'KeyName' },
    tool: { is: 'ToolGlob' },
    state: { listOf: ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'] },
    decision: { listOf: ['allow', 'deny', 'require_approval'] },
    rule_id: { is: 'RuleId' },
    execution: { listOf: ['succeeded', 'failed', 'unknown'] },
    verdict: { listOf: ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'] },
    level: { listOf: ['L0', 'L1', 'L2'] },
    on_behalf_of: { is: 'Reference' },
    session: { is: 'Reference' },
    shadow_differs: { is: 'OnlyTrue' },
    'created_at[gte]': { is: 'Timestamp' },
    'created_at[lt]': { is: 'Timestamp' },
    q: { is: 'SearchText' },
  },
  listDeeds: {
    kind: { listOf: ['action', 'amendment', 'admin'] },
    action: { is: 'ActionId' },
    'issued_at[gte]': { is: 'Timestamp' },
    'issued_at[lt]': { is: 'Timestamp' },
    'seq[gte]': { from: 0, to: 999999999999999 },
    'seq[lt]': { from: 0, to: 999999999999999 },
    order: { oneOf: ['asc', 'desc'], default: 'asc' },
  },
  listSecurityEvents: {
    type: {
      listOf: [
        'user.signed_in',
        'user.signed_out',
        'user.sign_in_failed',
        'login_link.issued',
        'member.address_set',
        'passkey.registered',
        'passkey.removed',
        'admin_key.created',
        'admin_key.rolled',
        'admin_key.revoked',
        'agent_key.created',
        'agent_key.rolled',
        'agent_key.revoked',
        'intent_key.added',
        'intent_key.removed',
        'export.started',
      ],
    },
  },
  listMembers: { status: { oneOf: ['invited', 'active', 'removed'] } },
  listReplays: { policy: { is: 'PolicyId' } },
  listWebhookDeliveries: {
    status: { listOf: ['pending', 'delivering', 'retrying', 'delivered', 'dead', 'cancelled'] },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, FilterForm>>>>;
