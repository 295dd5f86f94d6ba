import { MAX_TOOL_BYTES, REFERENCE_PATTERN } from '#libs/crypto';
import { holdsKeySecret, type NamedKey, parseNamedKey } from '#libs/domain/agents';
import { APPROVAL_STATUSES, type ApprovalStatus } from '#libs/domain/gate';
import { type Id, type IdPrefix, parseId, type Timestamp } from '#libs/domain/kernel';
import { RULE_ID_PATTERN } from '#libs/domain/policies';
import { queryProblem } from '../http/query-string.js';
import { commaList, instantAtOrAfter, searchText } from './filter-values.js';

/**
 * How the edge reads a filter, as the OpenAPI document describes it: by one of the schemas below, as a comma list of known
 * values, as one of them, or as an integer.
 */
export type FilterForm =
  | { readonly is: keyof typeof FILTER_FORMS; readonly default?: string }
  | { readonly listOf: readonly string[] }
  | { readonly oneOf: readonly string[]; readonly default?: string }
  | { readonly from: number; readonly to: number };

/** Of a tool's glob (rule API-14). */
const TOOL_MAX_STARS = 3;
/** Of GET /v1/approvals: whatever their status. */
const ALL = 'all';

const idOf =
  <Prefix extends IdPrefix>(prefix: Prefix, what: string) =>
  (name: string, text: string): Id<Prefix> => {
    const id = parseId(prefix, text);
    if (!id) throw queryProblem(name, `must be the id of ${what}, ${prefix}_ and 26 characters`);
    return id;
  };

const apiKey = (name: string, text: string): NamedKey => {
  const key = parseNamedKey(text);
  if (key !== null) return key;
  throw holdsKeySecret(text)
    ? queryProblem(name, 'must leave out the secret', 'What comes before the third underscore names the key.')
    : queryProblem(name, 'must be the id of an API key, key_ and 26 characters, or how it begins: svc_live_k3y9prf0');
};

const toolName = (name: string, text: string): string => {
  if (text === '') throw queryProblem(name, 'must not be empty');
  if (Buffer.byteLength(text) > MAX_TOOL_BYTES) throw queryProblem(name, `must be at most ${MAX_TOOL_BYTES} bytes`);
  return text;
};

const toolGlob = (name: string, text: string): string => {
  const glob = toolName(name, text);
  if (glob.split('*').length - 1 > TOOL_MAX_STARS) {
    throw queryProblem(name, `must hold at most ${TOOL_MAX_STARS} stars`);
  }
  return glob;
};

const ruleId = (name: string, text: string): string => {
  if (RULE_ID_PATTERN.test(text)) return text;
  throw queryProblem(name, 'must be the id of a rule: a lower-case letter, then at most 63 of a-z, 0-9, - and _');
};

/** Checked as strictly as the header: a value that the header cannot hold would match no action, so it is an error. */
const reference = (name: string, text: string): string => {
  if (REFERENCE_PATTERN.test(text)) return text;
  throw queryProblem(
    name,
    'must be 1 to 256 letters, digits or . _ ~ : @ / + = -',
    'In a query a plus sign is written %2B.',
  );
};

const onlyTrue = (name: string, text: string): true => {
  if (text !== 'true') throw queryProblem(name, 'must be true when it is sent');
  return true;
};

const approvalStatuses = (name: string, text: string): readonly ApprovalStatus[] | null =>
  text === ALL ? null : commaList(name, text, APPROVAL_STATUSES);

/**
 * The readers of a filter's text, by the schema that the OpenAPI document gives the filter. Null stands for any value.
 * Each throws validation_failed, naming the filter.
 */
export const FILTER_FORMS = {
  ActionId: idOf('act', 'an action'),
  AgentId: idOf('agt', 'an agent'),
  ApprovalStatusFilter: approvalStatuses,
  KeyName: apiKey,
  OnlyTrue: onlyTrue,
  PolicyId: idOf('pol', 'a policy'),
  Reference: reference,
  RuleId: ruleId,
  SearchText: searchText,
  Timestamp: (name: string, text: string): Timestamp => instantAtOrAfter(name, text),
  ToolGlob: toolGlob,
  ToolName: toolName,
} as const;
