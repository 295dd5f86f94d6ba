import {
  checkSignedIntent,
  type JsonObject,
  parsePublicKeyText,
  type StrictJsonError,
  type IntentToConsume,
  type IntentRefusal,
} from '#libs/crypto';
import type { LivingAgent } from '../../agents/index.js';
import { intentRefused, intentRequired } from './intent-refusal.js';
import type { ActionRequest, CanonicalRequest } from '../judgement/index.js';

/** The parts of a call that are compared with its signed intent. */
export interface IntendedCall {
  readonly tool: string;
  readonly args: JsonObject | StrictJsonError;
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

/** Checks 1 to 12, by the intent keys registered for the agent. The agent's intent mode is ignored. */
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
 * Applies the agent's intent mode (rule INTENT-1), then checks 1 to 12. Null if the call counts as unsigned: in mode
 * `off` a sent intent is ignored. Does not check whether the nonce was used, because a retry under the same
 * Idempotency-Key sends an intent whose nonce is used already.
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
 * The request after its intent was judged. If the intent was accepted, its references (on-behalf-of, session) replace
 * those of the request.
 * @throws {IntentRefused}
 */
export const intendedRequest = (request: CanonicalRequest, agent: LivingAgent, now: string): CanonicalRequest => {
  const accepted = judgeIntent(request, agent, now);
  if (accepted === null) return request;
  const { intent, intentHash, onBehalfOf, session } = accepted;
  const [header = ''] = request.intent;
  const signed = { hash: intentHash, kid: intent.kid, nonce: intent.nonce, exp: intent.exp, header };
  return { ...request, onBehalfOf, session, signed };
};
