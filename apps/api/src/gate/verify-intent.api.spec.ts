import { Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSignedIntent,
  decodeBase64url,
  digestOf,
  digestOfJson,
  encodeBase64url,
  type IntentClaims,
  intentInput,
  type JsonObject,
  SigningKey,
} from '#libs/crypto';
import { agentDecider, type AgentCommand } from '#libs/domain/agents';
import { OPERATOR, timestampOf } from '#libs/domain/kernel';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { VerifyIntentController } from './verify-intent.controller.js';

@Module({ controllers: [VerifyIntentController] })
class VerifyIntentModule {}

const key = SigningKey.generate();
const TOOL = 'crm.add_note';
const ARGS: JsonObject = { id: '42', amount: 1_000 };

let bench: ApiBench;

beforeAll(async () => {
  bench = await ApiBench.start([VerifyIntentModule]);
  const { kid, text } = key.publicKey;
  await change({ type: 'RegisterAgent', data: { org: ORG, agent: AGENT, name: 'signer', labels: {}, owner: null } });
  await change({ type: 'AddIntentKey', data: { kid, publicKey: text } });
});
afterAll(() => bench.close());

type Change = AgentCommand extends infer Each
  ? Each extends { type: string }
    ? Omit<Each, 'metadata'>
    : never
  : never;

const change = async (command: Change): Promise<void> => {
  const now = timestampOf(Date.now());
  const metadata = { org: ORG, actor: OPERATOR, requestId: null, commandId: `spec ${command.type}`, now };
  await bench.ledger.runner.run(agentDecider, AGENT, { ...command, metadata }, metadata);
};

const claims = (changes: Partial<IntentClaims> = {}): IntentClaims => {
  const iat = Date.now();
  return { org: ORG, agent: AGENT, tool: TOOL, args_digest: digestOfJson(ARGS), iat, exp: iat + 60_000, ...changes };
};
const sign = (changes: Partial<IntentClaims> = {}): string => createSignedIntent(claims(changes), key).header;

const verify = async (body: JsonObject | string, token = 'agent') =>
  bench.send('POST', '/v1/intents/verify', {
    headers: { ...bearer(token), 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const verdictOn = async (body: JsonObject | string) => {
  const { status, json } = await verify(body);
  expect(status).toBe(200);
  return json as JsonObject;
};

describe('POST /v1/intents/verify', () => {
  it('says that a valid intent is valid, and which bytes were signed', async () => {
    const intent = sign({ on_behalf_of: 'user:1' });
    const [part] = intent.split('.') as [string];
    const hash = digestOf(decodeBase64url(part, 2_048));
    expect(await verdictOn({ intent, tool: TOOL, args: ARGS, on_behalf_of: 'user:1' })).toEqual({
      object: 'intent_check',
      valid: true,
      check: null,
      reason: null,
      param: null,
      canonical: part,
      intent_hash: hash,
      signed_bytes: encodeBase64url(intentInput(hash)),
      args_digest: digestOfJson(ARGS),
    });
  });

  it('uses up no nonce: the same intent is valid again', async () => {
    const body = { intent: sign(), tool: TOOL, args: ARGS };
    for (let time = 0; time < 2; time += 1) expect(await verdictOn(body)).toMatchObject({ valid: true });
  });

  it.each<[verdict: string, body: () => JsonObject]>([
    ['1 syntax Service-Intent', () => ({ intent: 'garbage' })],
    ['6 org_mismatch org', () => ({ intent: sign({ org: `org_${'0'.repeat(26)}` }) })],
    ['10 tool_mismatch tool', () => ({ tool: 'crm.get' })],
    ['11 args_mismatch args_digest', () => ({ args: {} })],
    ['12 unsigned_obo Service-Session', () => ({ session: 'chat:1' })],
  ])('%s', async (verdict, body) => {
    const { valid, check, reason, param } = await verdictOn({ intent: sign(), tool: TOOL, args: ARGS, ...body() });
    expect([valid, ([check, reason, param] as (string | number)[]).join(' ')]).toEqual([false, verdict]);
  });

  it('shows the canonical form of an intent that is not canonical', async () => {
    const spaced = encodeBase64url(Buffer.from('{ "v": "service.intent/1" }'));
    const intent = `${spaced}.${encodeBase64url(Buffer.alloc(64))}`;
    const answer = await verdictOn({ intent, tool: TOOL, args: ARGS });
    expect(answer).toMatchObject({ check: 4, reason: 'not_canonical' });
    expect(Buffer.from(answer['canonical'] as string, 'base64url').toString()).toBe('{"v":"service.intent/1"}');
  });

  it('has no canonical form of an intent that is not JSON', async () => {
    expect(await verdictOn({ intent: 'garbage', tool: TOOL, args: ARGS })).toMatchObject({
      canonical: null,
      intent_hash: null,
      signed_bytes: null,
      args_digest: digestOfJson(ARGS),
    });
  });

  it.each([
    ['big_int', '{"id":9007199254740993}'],
    ['args_not_canonicalizable', '{"id":"42","id":"42"}'],
    ['args_not_canonicalizable', '{"id":"\\ud800"}'],
    ['args_not_canonicalizable', `{"id":${'['.repeat(32)}${']'.repeat(32)}}`],
  ])('says %s of arguments %s', async (reason, args) => {
    const body = `{"intent":"${sign()}","tool":"${TOOL}","args":${args}}`;
    expect(await verdictOn(body)).toMatchObject({ check: 11, reason, param: 'args', args_digest: null });
  });

  it('refuses a body of another form, and what is wrong elsewhere in it', async () => {
    const refused = async (body: JsonObject | string) => {
      const { status, error } = await verify(body);
      return [status, error['code'], error['param']];
    };
    expect(await refused({ tool: TOOL, args: ARGS })).toEqual([400, 'validation_failed', 'intent']);
    expect(await refused({ intent: 'x', tool: TOOL, args: [] })).toEqual([400, 'validation_failed', 'args']);
    expect(await refused({ intent: 'x', tool: TOOL, args: {}, session: ' ' })).toEqual([
      400,
      'validation_failed',
      'session',
    ]);
    expect(await refused('{"intent":"x","tool":9007199254740993,"args":{}}')).toEqual([
      400,
      'validation_failed',
      'tool',
    ]);
    // Faults of the body's shape are told before faults of the arguments.
    expect(await refused('{"intent":1,"tool":"a.b","args":{"n":9007199254740993}}')).toEqual([
      400,
      'validation_failed',
      'intent',
    ]);
  });

  it('is for agents that may act', async () => {
    const body = { intent: 'x', tool: TOOL, args: {} };
    for (const token of ['admin', 'reader']) {
      const { status, error } = await verify(body, token);
      expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
    }
  });
});
