import { type ActionId, type AgentId, parseId } from '#libs/domain/kernel';
import { queryProblem } from '../http/query-string.js';
import { commaList } from '../lists/filter-values.js';

const STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;
const ALL = 'all';

const TOOL_MAX_BYTES = 200;

/** What GET /v1/approvals asks for; null where it does not ask. All of it must hold. */
export interface ApprovalFilters {
  readonly statuses: readonly string[] | null;
  readonly action: ActionId | null;
  readonly agent: AgentId | null;
  readonly tool: string | null;
}

/** The filters by their names in the query; other names are not looked at. */
export interface ApprovalFilterParameters {
  readonly status?: string;
  readonly action?: string;
  readonly agent?: string;
  readonly tool?: string;
}

/** @throws {DomainError} validation_failed naming the first parameter, in this order, that is wrong */
export const parseApprovalFilters = ({ status, action, agent, tool }: ApprovalFilterParameters): ApprovalFilters => ({
  statuses: statusesOf(status),
  action: action === undefined ? null : actionId(action),
  agent: agent === undefined ? null : agentId(agent),
  tool: tool === undefined ? null : toolName(tool),
});

/** Whoever asks for none looks for what is to be done. */
const statusesOf = (text: string | undefined): readonly string[] | null => {
  if (text === undefined) return ['pending'];
  if (text === ALL) return null;
  return commaList('status', text, STATUSES);
};

const actionId = (text: string): ActionId => {
  const id = parseId('act', text);
  if (!id) throw queryProblem('action', 'must be the id of an action, act_ and 26 characters');
  return id;
};

const agentId = (text: string): AgentId => {
  const id = parseId('agt', text);
  if (!id) throw queryProblem('agent', 'must be the id of an agent, agt_ and 26 characters');
  return id;
};

const toolName = (text: string): string => {
  if (text === '') throw queryProblem('tool', 'must not be empty');
  if (Buffer.byteLength(text) > TOOL_MAX_BYTES) throw queryProblem('tool', `must be at most ${TOOL_MAX_BYTES} bytes`);
  return text;
};
