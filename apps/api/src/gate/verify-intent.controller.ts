import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import {
  checkArguments,
  type Digest,
  encodeBase64url,
  expectedForm,
  type JsonObject,
  StrictJsonError,
} from '#libs/crypto';
import { agentDecider } from '#libs/domain/agents';
import { checkIntent, type IntendedCall } from '#libs/domain/gate';
import { DomainError, FoldedStreams, streamRef } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { VerifyIntentBody } from './verify-intent.dto.js';

/** As large as the body of a call. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * For authors of signers: tells how checks 1 to 12 (rule INTENT-2) judge an intent, and the bytes that the service
 * expects to be signed. The agent's intent mode and used nonces are ignored and no nonce is used up, so a signer can be
 * tried at any time.
 */
@Controller()
export class VerifyIntentController {
  constructor(private readonly streams: FoldedStreams) {}

  @Post('/v1/intents/verify')
  @HttpCode(200)
  @Route({
    auth: 'agent_key',
    scopes: ['actions:execute'],
    since: '2026-10-01',
    maxBodyBytes: MAX_BODY_BYTES,
    argumentFaults: 'judged',
  })
  async verify(@Body() body: VerifyIntentBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { caller } = exchange;
    if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
    const { state: agent } = await this.streams.load(streamRef(agentDecider, caller.agent));
    if (agent.status === 'none') throw new DomainError('invalid_api_key');
    const { tool, on_behalf_of: onBehalfOf = null, session = null } = body;
    const args = exchange.argumentsFault?.cause ?? body.args;
    const call: IntendedCall = { tool, args, onBehalfOf, session };
    const verdict = checkIntent([body.intent], call, agent, Date.parse(exchange.commandMetadata().now));
    const { check, reason, param } = verdict.ok ? PASSED : verdict;
    const form = expectedForm([body.intent]);
    return {
      object: 'intent_check',
      valid: verdict.ok,
      check,
      reason,
      param,
      canonical: form && encodeBase64url(form.canonical),
      intent_hash: form && form.intentHash,
      signed_bytes: form && encodeBase64url(form.signedBytes),
      args_digest: digestOfArguments(args),
    };
  }
}

const PASSED = { check: null, reason: null, param: null };

/** Null if the arguments have no canonical form; then check 11 fails. */
const digestOfArguments = (args: JsonObject | StrictJsonError): Digest | null => {
  if (args instanceof StrictJsonError) return null;
  try {
    return checkArguments(args).digest;
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
};
