import {
  createSignedIntent,
  digestOf,
  digestOfJson,
  type IntentClaims,
  type IntentReason,
  type JsonObject,
  SigningKey,
} from '#libs/crypto';
import type { Answer } from '../../support/service.js';
import { DOORS, tell } from './mcp.refusals.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const TOOL = 'lab.write';
const ARGS: JsonObject = { id: 'open' };

const signer = SigningKey.generate();
/** The agent of this group, which must sign. */
const agent = { id: '', key: '' };

const enter = async (stage: Stage): Promise<void> => {
  const made = await stage.change('POST', '/v1/agents', { name: 'signer', key: {} });
  Object.assign(agent, { id: String(made['id']), key: String(made['secret']) });
  const path = `/v1/agents/${agent.id}`;
  await stage.change('POST', `${path}/intent-keys`, { public_key: signer.publicKey.text });
  await stage.change('PATCH', path, { intent_mode: 'required' });
};

const sign = ({ service }: Stage, changes: Partial<IntentClaims> = {}): string => {
  const iat = Date.now();
  const claims = {
    org: service.org,
    agent: agent.id,
    tool: TOOL,
    args_digest: digestOfJson(ARGS),
    iat,
    exp: iat + 60_000,
  };
  return createSignedIntent({ ...claims, ...changes }, signer).header;
};

const call = (
  stage: Stage,
  intent: string | null,
  {
    headers = {},
    text = JSON.stringify({ tool: TOOL, args: ARGS }),
  }: { headers?: Record<string, string>; text?: string } = {},
): Promise<Answer> =>
  stage.send('POST', '/v1/actions', {
    key: agent.key,
    text,
    headers: { ...(intent === null ? {} : { 'Service-Intent': intent }), ...headers },
  });

const invalid = (param: string): Verdict => [403, 'permission_error', 'intent_invalid', param];

/** A refusal names its check twice: by the reason, and by what is at fault. */
const refusal = (
  rule: string,
  [reason, param]: readonly [reason: IntentReason, param: string],
  provoke: Refusal['provoke'],
): Refusal => ({
  rule,
  verdict: reason === 'replay' ? [403, 'permission_error', 'intent_replay', 'nonce'] : invalid(param),
  carries: 'reason',
  reason,
  provoke,
});

const HEADER = 'Service-Intent';

/** Each of the thirteen checks, and what comes before them (rule INTENT-2). */
export const INTENTS: RefusalGroup = {
  title: 'an agent that must sign',
  enter,
  refusals: [
    {
      rule: 'a call without an intent',
      verdict: [403, 'permission_error', 'intent_required', HEADER],
      provoke: (stage) => call(stage, null),
    },
    ...DOORS.map((door): Refusal => ({
      rule: `a call through ${door}, where none can be sent`,
      verdict: [403, 'permission_error', 'intent_required', HEADER],
      provoke: (stage) => tell(stage, door, 'tools/call', { params: { name: 'read' }, key: agent.key }),
    })),
    refusal('what is no intent', ['syntax', HEADER], (stage) => call(stage, 'garbage')),
    refusal('a signature with padding', ['syntax', HEADER], (stage) => call(stage, `${sign(stage)}==`)),
    refusal('an intent of 2,049 bytes', ['too_large', HEADER], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.padEnd(2_049)),
      ),
    ),
    refusal('an intent with a member twice', ['strict', HEADER], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.replace('{', '{"v":"",')),
      ),
    ),
    refusal('an intent with a space', ['not_canonical', HEADER], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.replace('{', '{ ')),
      ),
    ),
    refusal('an intent of another version', ['version', 'v'], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.replace('intent/1', 'intent/2')),
      ),
    ),
    refusal('an intent with a field too many', ['schema', 'z'], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.replace(/}$/, ',"z":1}')),
      ),
    ),
    refusal('an intent of another organization', ['org_mismatch', 'org'], (stage) =>
      call(stage, sign(stage, { org: `org_${'0'.repeat(26)}` })),
    ),
    refusal('an intent of another agent', ['agent_mismatch', 'agent'], (stage) =>
      call(stage, sign(stage, { agent: stage.service.agent })),
    ),
    refusal('an intent of a key that nobody registered', ['unknown_kid', 'kid'], (stage) =>
      call(
        stage,
        edited(stage, (text) => text.replace(signer.publicKey.kid, 'f'.repeat(32))),
      ),
    ),
    refusal('an intent whose signature is another one’s', ['bad_signature', 'kid'], (stage) => {
      const [intent, [, signature]] = [sign(stage).split('.')[0], sign(stage).split('.') as [string, string]];
      return call(stage, `${intent}.${signature}`);
    }),
    refusal('an intent of later', ['not_yet_valid', 'iat'], (stage) =>
      call(stage, sign(stage, { iat: Date.now() + 120_000, exp: Date.now() + 180_000 })),
    ),
    refusal('an intent of before', ['expired', 'exp'], (stage) =>
      call(stage, sign(stage, { iat: Date.now() - 180_000, exp: Date.now() - 120_000 })),
    ),
    refusal('an intent that lives too long', ['ttl', 'exp'], (stage) =>
      call(stage, sign(stage, { exp: Date.now() + 400_000 })),
    ),
    refusal('an intent for another tool', ['tool_mismatch', 'tool'], (stage) =>
      call(stage, sign(stage, { tool: 'lab.read' })),
    ),
    refusal('arguments with an integer beyond 2^53-1', ['big_int', 'args'], (stage) =>
      call(stage, sign(stage), { text: `{"tool":"${TOOL}","args":{"id":9007199254740993}}` }),
    ),
    refusal('arguments with a member twice', ['args_not_canonicalizable', 'args'], (stage) =>
      call(stage, sign(stage), { text: `{"tool":"${TOOL}","args":{"id":"open","id":"open"}}` }),
    ),
    refusal('an intent for other arguments', ['args_mismatch', 'args_digest'], (stage) =>
      call(stage, sign(stage, { args_digest: digestOf('') })),
    ),
    refusal('a person whom the intent does not name', ['unsigned_obo', 'Service-On-Behalf-Of'], (stage) =>
      call(stage, sign(stage), { headers: { 'Service-On-Behalf-Of': 'user:1' } }),
    ),
    refusal('another person than the intent names', ['obo_mismatch', 'Service-On-Behalf-Of'], (stage) =>
      call(stage, sign(stage, { on_behalf_of: 'user:2' }), { headers: { 'Service-On-Behalf-Of': 'user:1' } }),
    ),
    refusal('another session than the intent names', ['session_mismatch', 'Service-Session'], (stage) =>
      call(stage, sign(stage, { session: 'chat:2' }), { headers: { 'Service-Session': 'chat:1' } }),
    ),
    refusal('an intent that was used', ['replay', 'nonce'], async (stage) => {
      const intent = sign(stage);
      await call(stage, intent, { headers: { 'Idempotency-Key': 'signed once' } });
      return call(stage, intent, { headers: { 'Idempotency-Key': 'signed twice' } });
    }),
  ],
};

/** An intent whose bytes were changed after it was signed: every check before the signature sees the change first. */
const edited = (stage: Stage, edit: (text: string) => string): string => {
  const [intent, signature] = sign(stage).split('.') as [string, string];
  const bytes = Buffer.from(edit(Buffer.from(intent, 'base64url').toString()));
  return `${bytes.toString('base64url')}.${signature}`;
};
