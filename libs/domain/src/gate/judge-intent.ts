import { checkSignedIntent, type JsonObject, parsePublicKeyText, type StrictJsonError } from '#libs/crypto';
import type { IntentToConsume, IntentRefusal } from '#libs/crypto';
import type { LivingAgent } from '../agents/index.js';
import { intentRefused, intentRequired } from './intent-refusal.js';
import type { ActionRequest, CanonicalRequest } from './submission.js';

/** What of a call its intent is held against. */
export interface IntendedCall {
  readonly tool: string;
  readonly args: JsonObject | StrictJsonError;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

/** Checks 1 to 12, whatever the agent's intent mode is: by the keys that are registered for it. */
export const checkIntent = (
  intent: readonly string[],
  { tool, args, onBehalfOf, session }: IntendedCall,
  { org, agent, intentKeys }: LivingAgent,
  now: number,
): IntentToConsume | IntentRefusal => {
  const keys = intentKeys.map(({ publicKey }) => parsePublicKeyText(publicKey));
  return checkSignedIntent(intent, { org, agent, keys, now, tool, args, onBehalfOf, session });
};

/**
 * The intent mode (rule INTENT-1), then checks 1 to 12. Null where the call goes on unsigned: `off` ignores whatever
 * was sent. The nonce is not looked at: the intent of a call that is repeated under its Idempotency-Key is used
 * already.
 * @throws {IntentRefused} intent_required, intent_invalid
 */
export const judgeIntent = (request: ActionRequest, agent: LivingAgent, now: string): IntentToConsume | null => {
  if (agent.intentMode === 'off') return null;
  if (request.intent.length === 0) {
    if (agent.intentMode === 'required') throw intentRequired();
    return null;
  }
  const verdict = checkIntent(request.intent, request, agent, Date.parse(now));
  if (!verdict.ok) throw intentRefused(verdict);
  return verdict;
};

/**
 * The request as its intent, if it counts, lets it stand.
 * @throws {IntentRefused}
 */
export const intendedRequest = (request: CanonicalRequest, agent: LivingAgent, now: string): CanonicalRequest => {
  const accepted = judgeIntent(request, agent, now);
  if (accepted === null) return request;
  const { intent, intentHash, onBehalfOf, session } = accepted;
  const signed = { hash: intentHash, kid: intent.kid, nonce: intent.nonce, exp: intent.exp };
  return { ...request, onBehalfOf, session, signed };
};
