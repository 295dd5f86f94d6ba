import { INTENT_HEADER, type IntentReason, type IntentRefusal } from '#libs/crypto';
import { DomainError } from '../../kernel/index.js';

/**
 * A call that is refused because of its signed intent, or because it has none. It leaves no trace: no action is
 * recorded and no nonce is used.
 */
export class IntentRefused extends DomainError {}

/** The refusal under the intent mode `required` if the intent header is missing (rule INTENT-1). */
export const intentRequired = (): IntentRefused =>
  new IntentRefused('intent_required', {
    param: INTENT_HEADER,
    message: `This agent must sign its calls: send the header ${INTENT_HEADER}, signed for this call (docs/signed-intents.md).`,
  });

/**
 * The refusal for an invalid intent. `reason` is a member of its own because clients branch on it, while messages may
 * become more exact.
 */
export const intentRefused = ({ reason, param }: IntentRefusal): IntentRefused =>
  new IntentRefused(reason === 'replay' ? 'intent_replay' : 'intent_invalid', {
    param,
    message: messageOf(reason, param),
    extra: { reason },
  });

/**
 * One sentence about the field or header in `param` and what it must be. POST /v1/intents/verify shows the expected
 * bytes.
 */
const messageOf = (reason: IntentReason, param: string): string => {
  const message = MESSAGES[reason];
  return typeof message === 'string' ? message : message(param);
};

/** How much of a field's name is repeated in a message, because the caller chose the name. */
const MAX_FIELD_CHARACTERS = 64;

const MESSAGES: Readonly<Record<IntentReason, string | ((param: string) => string)>> = {
  syntax: `${INTENT_HEADER} must be sent once: the intent, a dot and its 64-byte signature, both in base64url without padding.`,
  too_large: `${INTENT_HEADER} must hold an intent of at most 2,048 bytes.`,
  strict: `${INTENT_HEADER} must hold strict JSON: UTF-8, no member twice, whole numbers up to 2^53-1 alone, nothing nested.`,
  not_canonical: `${INTENT_HEADER} must hold the intent in RFC 8785 form, byte by byte. POST /v1/intents/verify shows that form.`,
  schema: (param) =>
    param === INTENT_HEADER
      ? `${INTENT_HEADER} must hold a JSON object with the fields of service.intent/1.`
      : `The field ${param.slice(0, MAX_FIELD_CHARACTERS)} of the intent must be as service.intent/1 has it: no other fields, none missing, each in its form.`,
  version: 'The field v of the intent must be service.intent/1.',
  org_mismatch: 'The field org of the intent must be the organization of the API key.',
  agent_mismatch: 'The field agent of the intent must be the agent of the API key.',
  unknown_kid:
    'The field kid of the intent must name a key that is registered for this agent. An admin registers one with POST /v1/agents/{id}/intent-keys.',
  bad_signature:
    'The signature must be made by the key of the field kid, over service/intent/v1, a line feed and the intent hash. POST /v1/intents/verify shows the signed bytes.',
  not_yet_valid:
    'The field iat of the intent must not lie more than 60 seconds ahead of the service. Set the clock of the signer.',
  expired:
    'The field exp of the intent must not have passed for more than 60 seconds. Sign the call anew, just before it is sent.',
  ttl: 'The field exp of the intent must lie after iat, by 300,000 ms at most.',
  tool_mismatch: 'The field tool of the intent must be the tool of the call.',
  big_int: 'The field args of the call must hold no integer beyond 2^53-1. Send large integers as strings.',
  args_not_canonicalizable:
    'The field args of the call must have one RFC 8785 form: no member twice, at most 32 deep and 256 KiB, whole characters, numbers that fit a double.',
  args_mismatch:
    'The field args_digest of the intent must be the digest of the arguments of the call, in RFC 8785 form. POST /v1/intents/verify shows it.',
  unsigned_obo: (param) => `${param} must stand in the intent too, or not be sent.`,
  obo_mismatch: (param) => `${param} must be what the intent says in on_behalf_of, or not be sent.`,
  session_mismatch: (param) => `${param} must be what the intent says in session, or not be sent.`,
  replay: 'The nonce of this intent was used already. Sign the call anew with a fresh nonce of 16 random bytes.',
};
