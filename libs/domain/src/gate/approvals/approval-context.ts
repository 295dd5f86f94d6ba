import { canonicalize, digestOf, type Digest, type JsonObject, type JsonValue } from '#libs/crypto';
import type { ToolDescription } from '../../connectors/index.js';
import type { ActionId, MoneyMarks, Timestamp } from '../../kernel/index.js';
import type { PolicyInput } from '../../policies/index.js';
import type { ReviewedTerms } from './approvers.js';

/**
 * Everything an approver is shown, as one document. An approval names its digest, so nobody approves what was not
 * shown. The document holds no policy version, so an edit of the policy that changes nothing for this call does not
 * void signatures. Snake case and plain JSON, because auditors and programs in other languages read the payload.
 */
export type ApprovalContext = {
  readonly action: ActionId;
  readonly agent: PolicyInput['agent'];
  readonly approvers: readonly string[];
  readonly args: JsonObject;
  readonly expires_at: Timestamp;
  readonly intent_signed: boolean;
  readonly on_behalf_of: string | null;
  /** The request facts that the connector gives before the call is sent; empty if it gives none. */
  readonly request: PolicyInput['request'];
  readonly required: number;
  readonly rule_id: string | null;
  readonly session: string | null;
  readonly side_effect: PolicyInput['side_effect'];
  readonly tool: string;
  readonly tool_description: string | null;
  /**
   * What a call of the tool does, as the end of the sentence "the agent wants to ...". Absent if the tool has no title,
   * and in contexts that were stored before tools had titles.
   */
  readonly tool_title?: string;
  /**
   * Which arguments are amounts of money in minor units, and in which currency. Absent if no argument is marked. The
   * formatted amount is left out, because two processes may format a currency differently.
   */
  readonly money?: MoneyMarks;
  /**
   * Whether the tool's server describes it otherwise than was accepted; absent if not. What is shown of the tool is then what
   * was accepted, so nobody signs what they will read only after an admin has accepted the change.
   */
  readonly tool_held?: true;
  /** Each who approves signs with a passkey; absent if nobody has to. */
  readonly signed?: true;
  /** Null if no connector provides the tool (any more). */
  readonly tool_digest: Digest | null;
};

export interface ContextParts {
  readonly action: ActionId;
  /** The policy input, with the request facts of `tool`. */
  readonly input: PolicyInput;
  readonly tool: Pick<ToolDescription, 'digest' | 'title' | 'description' | 'money' | 'held'> | null;
  readonly terms: ReviewedTerms;
  readonly expiresAt: Timestamp;
}

export const contextOf = ({ action, input, tool, terms, expiresAt }: ContextParts): ApprovalContext => ({
  action,
  agent: input.agent,
  approvers: terms.approvers,
  args: input.args,
  expires_at: expiresAt,
  intent_signed: input.intent.signed,
  on_behalf_of: input.user.ref,
  request: input.request,
  required: terms.required,
  rule_id: terms.rule_id,
  session: input.session.ref,
  side_effect: input.side_effect,
  tool: input.tool,
  tool_description: tool?.description ?? null,
  tool_digest: tool?.digest ?? null,
  ...(terms.signed === undefined ? {} : { signed: true }),
  ...(tool?.held === undefined ? {} : { tool_held: true }),
  ...(tool?.title === undefined ? {} : { tool_title: tool.title }),
  ...(tool?.money === undefined ? {} : { money: tool.money }),
});

/** The payload document of a context: RFC 8785 text and its digest. */
export const contextDocument = (context: ApprovalContext): { readonly body: string; readonly digest: Digest } => {
  const body = canonicalize(context as unknown as JsonObject);
  return { body, digest: digestOf(body) };
};

/**
 * Limit on the number of changed paths: far more than an approver could read. An ordinary change of a tool differs in a
 * handful.
 */
const CHANGED_MAX = 64;

/** The paths at which two contexts differ, such as `tool_digest` and `request.http.path`. */
export const changedPaths = (before: ApprovalContext, now: ApprovalContext): readonly string[] =>
  differences(before as unknown as JsonValue, now as unknown as JsonValue, '').slice(0, CHANGED_MAX);

const differences = (before: JsonValue | undefined, now: JsonValue | undefined, path: string): readonly string[] => {
  if (isObject(before) && isObject(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
    return names.flatMap((name) => differences(before[name], now[name], path === '' ? name : `${path}.${name}`));
  }
  return isSame(before, now) ? [] : [path];
};

const isSame = (before: JsonValue | undefined, now: JsonValue | undefined): boolean =>
  before === undefined || now === undefined ? before === now : canonicalize(before) === canonicalize(now);

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
