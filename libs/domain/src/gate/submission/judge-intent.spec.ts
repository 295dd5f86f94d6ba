import { describe, expect, it } from 'vitest';
import { args, claims, facts, key, NOW, otherKey } from '../../../../crypto/src/testing/given-intent.js';
import { createSignedIntent, digestOf, newSalt } from '#libs/crypto';
import { thrown } from '../../../../../test/support/thrown.js';
import type { IntentMode, LivingAgent } from '../../agents/index.js';
import { OPERATOR, timestampOf } from '../../kernel/index.js';
import type { Submission } from '../action/index.js';
import { IntentRefused } from './intent-refusal.js';
import { intendedRequest, judgeIntent } from './judge-intent.js';
import {
  canonicalRequest,
  policyInputOf,
  submissionOf,
  type ActionRequest,
  type CanonicalRequest,
} from '../judgement/index.js';

const now = timestampOf(NOW);

const agentOf = (intentMode: IntentMode, signers = [key]): LivingAgent => ({
  status: 'active',
  statusReason: null,
  org: claims.org as LivingAgent['org'],
  agent: claims.agent as LivingAgent['agent'],
  name: 'signer',
  labels: {},
  owner: null,
  intentMode,
  intentKeys: signers.map(({ publicKey }) => ({
    kid: publicKey.kid,
    publicKey: publicKey.text,
    createdBy: OPERATOR,
    createdAt: now,
  })),
  budgets: { calls_per_day: null, spend_per_day: null },
  createdAt: now,
  keys: new Map(),
});

const request = (changes: Partial<ActionRequest> = {}): ActionRequest => ({
  tool: facts.tool,
  args,
  mode: 'gateway',
  connectorType: null,
  key: 'key_00000000000000000000000001' as ActionRequest['key'],
  livemode: false,
  idempotencyKey: null,
  onBehalfOf: null,
  session: null,
  intent: [createSignedIntent(claims, key).header],
  trace: null,
  ...changes,
});

const refusalBy = (agent: LivingAgent, changes: Partial<ActionRequest>): unknown[] => {
  const { code, param, extra } = thrown(IntentRefused, () => judgeIntent(request(changes), agent, now));
  return [code, param, extra];
};

describe('the intent mode is applied before the first check', () => {
  it.each<[mode: IntentMode, sent: readonly string[]]>([
    ['off', []],
    ['off', ['garbage']],
    ['off', ['twice', 'twice']],
    ['optional', []],
  ])('%s lets %j go on unsigned', (mode, sent) => {
    expect(judgeIntent(request({ intent: sent }), agentOf(mode), now)).toBeNull();
  });

  it('required refuses a call without the header, whatever its arguments are', () => {
    const refusal = ['intent_required', 'Service-Intent', null];
    expect(refusalBy(agentOf('required'), { intent: [] })).toEqual(refusal);
  });

  it.each<IntentMode>(['optional', 'required'])('%s judges what was sent', (mode) => {
    expect(judgeIntent(request(), agentOf(mode), now)).toMatchObject({ ok: true, nonce: claims.nonce });
    const invalid = ['intent_invalid', 'Service-Intent', { reason: 'syntax' }];
    expect(refusalBy(agentOf(mode), { intent: [''] })).toEqual(invalid);
    expect(refusalBy(agentOf(mode, [otherKey]), {})).toEqual(['intent_invalid', 'kid', { reason: 'unknown_kid' }]);
  });

  it('either of two registered keys may sign', () => {
    const header = createSignedIntent(claims, otherKey).header;
    expect(judgeIntent(request({ intent: [header] }), agentOf('required', [key, otherKey]), now)).not.toBeNull();
  });
});

describe('a call whose intent was accepted', () => {
  const named = { ...claims, on_behalf_of: 'user:1', session: 'chat:1' };
  const signedCall = intendedRequest(
    canonicalRequest(request({ intent: [createSignedIntent(named, key).header] })),
    agentOf('required'),
    now,
  );

  it('has the references of the intent where the headers are absent', () => {
    expect(signedCall).toMatchObject({ onBehalfOf: 'user:1', session: 'chat:1' });
  });

  it('tells the policy that it is signed, and for whom', () => {
    expect(policyInputOf(signedCall, agentOf('required'), null, now)).toMatchObject({
      intent: { signed: true },
      user: { ref: 'user:1' },
    });
  });

  it('is submitted with the intent’s hash, key, nonce, end and text; another call says nothing of an intent', () => {
    expect(submit(signedCall)).toMatchObject({
      intent_signed: true,
      intent_hash: signedCall.signed?.hash,
      intent: { kid: key.publicKey.kid, nonce: claims.nonce, exp: claims.exp, header: signedCall.intent[0] },
    });
    const unsigned = submit(canonicalRequest(request()));
    expect(unsigned).toMatchObject({ intent_signed: false, intent_hash: null });
    expect(unsigned).not.toHaveProperty('intent');
  });

  it('is compared with a duplicate without regard to its intent', () => {
    const fresh = createSignedIntent({ ...named, nonce: 'f'.repeat(32) }, key).header;
    const again = intendedRequest(canonicalRequest(request({ intent: [fresh] })), agentOf('required'), now);
    expect(submit(again).comparison_digest).toBe(submit(signedCall).comparison_digest);
  });
});

const submit = (call: CanonicalRequest): Submission =>
  submissionOf(call, 'act_00000000000000000000000001' as Submission['action'], agentOf('required'), null, {
    document: { body: 'input', digest: digestOf('input'), salt: newSalt() },
    idempotencyKeyHash: null,
  });
