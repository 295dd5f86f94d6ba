import { holdsKeySecret, type NamedKey, parseNamedKey } from '#libs/domain/agents';
import type { ExecutionStatus } from '#libs/domain/gate';
import { type AgentId, parseId, type Timestamp } from '#libs/domain/kernel';
import { REFERENCE } from '../http/call-references.js';
import { queryProblem } from '../http/query-string.js';
import { commaList, instantAtOrAfter, searchText } from '../lists/filter-values.js';

/** Every state of an action, also those that no action is in at present. */
const STATES = ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'] as const;
const DECISIONS = ['allow', 'deny', 'require_approval'] as const;
const EXECUTIONS = ['succeeded', 'failed', 'unknown'] as const satisfies readonly ExecutionStatus[];
const VERDICTS = ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'] as const;
const LEVELS = ['L0', 'L1', 'L2'] as const;

/** Limits of the filter `tool` (rule API-14). */
const TOOL_MAX_BYTES = 200;
const TOOL_MAX_STARS = 3;

/** The form of rule ids in the policy language. */
const RULE_ID = /^[a-z][a-z0-9_-]{0,63}$/;

/** The filters of GET /v1/actions; null if a filter was not sent. An action must match all of them. */
export interface ActionFilters {
  readonly agent: AgentId | null;
  readonly key: NamedKey | null;
  /** A glob if it contains a star, else the exact name. */
  readonly tool: string | null;
  readonly states: readonly string[] | null;
  readonly decisions: readonly string[] | null;
  readonly ruleId: string | null;
  /** Outcomes of executions; matches only actions that have one. */
  readonly executions: readonly ExecutionStatus[] | null;
  readonly verdicts: readonly string[] | null;
  readonly levels: readonly string[] | null;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
  readonly createdFrom: Timestamp | null;
  readonly createdBefore: Timestamp | null;
  readonly text: string | null;
  readonly isShadowDifferent: boolean;
}

/** The filters by their query parameters; other parameters are ignored. */
export interface ActionFilterParameters {
  readonly agent?: string;
  readonly key?: string;
  readonly tool?: string;
  readonly state?: string;
  readonly decision?: string;
  readonly rule_id?: string;
  readonly execution?: string;
  readonly verdict?: string;
  readonly level?: string;
  readonly on_behalf_of?: string;
  readonly session?: string;
  readonly 'created_at[gte]'?: string;
  readonly 'created_at[lt]'?: string;
  readonly q?: string;
  readonly shadow_differs?: string;
}

/** @throws {DomainError} validation_failed naming the first wrong parameter, in the order below */
export const parseActionFilters = (sent: ActionFilterParameters): ActionFilters => ({
  agent: parsed(sent.agent, agentId),
  key: parsed(sent.key, apiKey),
  tool: parsed(sent.tool, toolName),
  states: commaList('state', sent.state, STATES),
  decisions: commaList('decision', sent.decision, DECISIONS),
  ruleId: parsed(sent.rule_id, ruleId),
  executions: commaList('execution', sent.execution, EXECUTIONS),
  verdicts: commaList('verdict', sent.verdict, VERDICTS),
  levels: commaList('level', sent.level, LEVELS),
  onBehalfOf: parsed(sent.on_behalf_of, (text) => reference('on_behalf_of', text)),
  session: parsed(sent.session, (text) => reference('session', text)),
  createdFrom: instantAtOrAfter('created_at[gte]', sent['created_at[gte]']),
  createdBefore: instantAtOrAfter('created_at[lt]', sent['created_at[lt]']),
  text: parsed(sent.q, searchText),
  isShadowDifferent: parsed(sent.shadow_differs, onlyTrue) ?? false,
});

const parsed = <Value>(text: string | undefined, parse: (text: string) => Value): Value | null =>
  text === undefined ? null : parse(text);

const agentId = (text: string): AgentId => {
  const id = parseId('agt', text);
  if (!id) throw queryProblem('agent', 'must be the id of an agent, agt_ and 26 characters');
  return id;
};

const apiKey = (text: string): NamedKey => {
  const key = parseNamedKey(text);
  if (key !== null) return key;
  throw holdsKeySecret(text)
    ? queryProblem('key', 'must leave out the secret', 'What comes before the third underscore names the key.')
    : queryProblem('key', 'must be the id of an API key, key_ and 26 characters, or how it begins: svc_live_k3y9prf0');
};

const toolName = (text: string): string => {
  if (text === '') throw queryProblem('tool', 'must not be empty');
  if (Buffer.byteLength(text) > TOOL_MAX_BYTES) throw queryProblem('tool', `must be at most ${TOOL_MAX_BYTES} bytes`);
  if (text.split('*').length - 1 > TOOL_MAX_STARS) {
    throw queryProblem('tool', `must hold at most ${TOOL_MAX_STARS} stars`);
  }
  return text;
};

const ruleId = (text: string): string => {
  if (RULE_ID.test(text)) return text;
  throw queryProblem('rule_id', 'must be the id of a rule: a lower-case letter, then at most 63 of a-z, 0-9, - and _');
};

/** Checked as strictly as the header: a value that the header cannot hold would match no action, so it is an error. */
const reference = (name: string, text: string): string => {
  if (REFERENCE.test(text)) return text;
  throw queryProblem(
    name,
    'must be 1 to 256 letters, digits or . _ ~ : @ / + = -',
    'In a query a plus sign is written %2B.',
  );
};

const onlyTrue = (text: string): true => {
  if (text !== 'true') throw queryProblem('shadow_differs', 'must be true when it is sent');
  return true;
};
