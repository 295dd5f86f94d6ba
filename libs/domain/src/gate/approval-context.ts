import { canonicalize, digestOf, type Digest, type JsonObject, type JsonValue } from '#libs/crypto';
import type { ToolDescription } from '../connectors/index.js';
import type { ActionId, MoneyMarks, Timestamp } from '../kernel/index.js';
import type { PolicyInput } from '../policies/index.js';
import type { ReviewedTerms } from './approvers.js';

/**
 * All that a person decides on, as one document. Its digest is what a decision names, so that nobody approves what was
 * not shown. No policy version stands in it: an edit of the policy that changes nothing for this call voids no signature.
 * Snake case and plain JSON: payloads are read by auditors and by other languages.
 */
export type ApprovalContext = {
  readonly action: ActionId;
  readonly agent: PolicyInput['agent'];
  readonly approvers: readonly string[];
  readonly args: JsonObject;
  readonly expires_at: Timestamp;
  readonly intent_signed: boolean;
  readonly on_behalf_of: string | null;
  /** What the connector says of the request before it is sent; empty where it says nothing. */
  readonly request: PolicyInput['request'];
  readonly required: number;
  readonly rule_id: string | null;
  readonly session: string | null;
  readonly side_effect: PolicyInput['side_effect'];
  readonly tool: string;
  readonly tool_description: string | null;
  /** What a call of it does, after `wants to`. Absent where the tool has none, as in contexts from before there were titles. */
  readonly tool_title?: string;
  /**
   * Which arguments are amounts of money, in minor units, and of which currency. Absent where none is marked. How they are
   * written for people is no part of it: two processes may write a currency differently.
   */
  readonly money?: MoneyMarks;
  /** Null where no connector provides the tool, or none does any more. */
  readonly tool_digest: Digest | null;
};

export interface ContextParts {
  readonly action: ActionId;
  /** As the policy judges it: with the facts of the tool that is shown. */
  readonly input: PolicyInput;
  readonly tool: Pick<ToolDescription, 'digest' | 'title' | 'description' | 'money'> | null;
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
  ...(tool?.title === undefined ? {} : { tool_title: tool.title }),
  ...(tool?.money === undefined ? {} : { money: tool.money }),
});

/** The payload document of a context: RFC 8785 text and its digest. */
export const contextDocument = (context: ApprovalContext): { readonly body: string; readonly digest: Digest } => {
  const body = canonicalize(context as unknown as JsonObject);
  return { body, digest: digestOf(body) };
};

/** Far more than an approver could look at; a tool that was swapped differs in a handful. */
const CHANGED_MAX = 64;

/** Where a context differs from the one before it, as paths such as `tool_digest` and `request.http.path`. */
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
