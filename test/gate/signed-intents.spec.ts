import { AddIntentKey, RemoveIntentKey, StopAgent } from '#libs/domain/agents/handlers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  canonicalize,
  createSignedIntent,
  digestOf,
  encodeBase64url,
  intentInput,
  type JsonObject,
  SEAL_TAG,
  SigningKey,
  StrictJsonError,
} from '#libs/crypto';
import { IntentRefused, MustAsk, type SubmittedAction } from '#libs/domain/gate';
import { actionSections } from '#libs/domain/ledger';
import { IntentScene, type SignedCall } from '../support/intent-scene.js';
import { rejected } from '../support/thrown.js';

const HEADER = 'Service-Intent';
const OTHER_ORG = 'org_00000000000000000000000009';
const OTHER_AGENT = 'agt_00000000000000000000000009';
const stranger = SigningKey.generate();

/** The refusal in one line. Checks that the refused call was not recorded and used no nonce. */
const refused = async (scene: IntentScene, call: () => Promise<unknown>): Promise<string> => {
  const before = [await scene.countActions(), await scene.countNonces()];
  const { code, param, extra, status, message } = await rejected(IntentRefused, call());
  expect([await scene.countActions(), await scene.countNonces()]).toEqual(before);
  expect(status).toBe(403);
  expect(message).toContain(param);
  return ([code, ...(extra ? [extra['reason']] : []), param] as string[]).join(' ');
};

describe('intent modes', () => {
  let scene: IntentScene;
  beforeEach(async () => {
    scene = await IntentScene.open();
  });
  afterEach(() => scene.close());

  it('off: whatever was sent is ignored, and the call is unsigned (rule INTENT-1)', async () => {
    await scene.setMode('off');
    const header = scene.sign();
    for (const sent of ['garbage', header, header]) {
      const { action } = await scene.call(sent);
      expect((await scene.recorded(action)).submission).toMatchObject({ intent_signed: false, intent_hash: null });
      expect((await scene.recorded(action)).submission).not.toHaveProperty('intent');
    }
    expect(await scene.countNonces()).toBe(0);
  });

  it('optional: accepted without, signed with, refused with an invalid one', async () => {
    const { action } = await scene.call('', { intent: [] });
    expect((await scene.recorded(action)).submission).toMatchObject({ intent_signed: false });
    expect(await scene.countNonces()).toBe(0);
    const signed = await scene.call(scene.sign());
    expect((await scene.recorded(signed.action)).submission).toMatchObject({ intent_signed: true });
    expect(await refused(scene, () => scene.call('garbage'))).toBe(`intent_invalid syntax ${HEADER}`);
  });

  it('required: refused without, accepted with (rule INTENT-1)', async () => {
    await scene.setMode('required');
    expect(await refused(scene, () => scene.call('', { intent: [] }))).toBe(`intent_required ${HEADER}`);
    const { action } = await scene.call(scene.sign());
    expect((await scene.recorded(action)).submission).toMatchObject({ intent_signed: true });
  });

  it('an accepted one is recorded, judged by the policy and sealed', async () => {
    await scene.bench.enforce(`version: 1
default: deny
rules:
  - id: signed
    match:
      tools:
        - crm.*
    when: intent.signed
    decision: allow
`);
    const header = scene.sign({ nonce: 'a'.repeat(32), on_behalf_of: 'user:1', session: 'chat:2' });
    const action = await scene.recorded((await scene.call(header)).action);
    const hash = digestOf(Buffer.from(header.split('.')[0] as string, 'base64url'));
    expect(action.decision).toMatchObject({ outcome: 'allow', rule_id: 'signed' });
    expect(action.submission).toMatchObject({
      intent_signed: true,
      intent_hash: hash,
      intent: { kid: scene.key.publicKey.kid, nonce: 'a'.repeat(32) },
      on_behalf_of: 'user:1',
      session: 'chat:2',
    });
    expect(actionSections(action).who).toMatchObject({
      intent_signed: true,
      intent_hash: hash,
      on_behalf_of: 'user:1',
      session: 'chat:2',
    });
    const unsigned = await scene.recorded((await scene.call('', { intent: [] })).action);
    expect(unsigned.decision).toMatchObject({ outcome: 'deny', source: 'default' });
  });

  it('comes before a Stop: of a stopped agent only a call with a valid intent is recorded', async () => {
    const { org, agent } = scene.bench;
    await scene.bench.commands.execute(new StopAgent(org, agent, null, scene.bench.metadata()));
    expect(await refused(scene, () => scene.call('garbage'))).toBe(`intent_invalid syntax ${HEADER}`);
    const header = scene.sign();
    const { action } = await scene.call(header);
    expect((await scene.recorded(action)).decision).toMatchObject({ code: 'agent_stopped', source: 'stop' });
    expect(await refused(scene, () => scene.call(header))).toBe('intent_replay replay nonce');
  });

  it('an intent key that was removed signs nothing any more, one that was added signs at once (check 7)', async () => {
    const { org, agent } = scene.bench;
    await scene.register(stranger);
    await scene.call(scene.sign({}, stranger));
    await scene.bench.commands.execute(new RemoveIntentKey(org, agent, stranger.publicKey.kid, scene.bench.metadata()));
    expect(await refused(scene, () => scene.call(scene.sign({}, stranger)))).toBe('intent_invalid unknown_kid kid');
  });
});

/** A way to fail one check. Any two can be combined. */
interface Attack {
  readonly json?: (value: JsonObject) => JsonObject;
  readonly text?: (text: string) => string;
  readonly signer?: SigningKey;
  readonly header?: (header: string) => string;
  readonly call?: SignedCall;
  readonly isReplay?: boolean;
  readonly verdict: string;
}

const ATTACKS: readonly Attack[] = [
  { header: (header) => `${header}=`, verdict: `intent_invalid syntax ${HEADER}` },
  { text: (text) => text.padEnd(2_049), verdict: `intent_invalid too_large ${HEADER}` },
  { text: (text) => text.replace('{', '{"v":"",'), verdict: `intent_invalid strict ${HEADER}` },
  { text: (text) => text.replace('{', '{ '), verdict: `intent_invalid not_canonical ${HEADER}` },
  { json: (value) => ({ ...value, extra: 1 }), verdict: 'intent_invalid schema extra' },
  { json: (value) => ({ ...value, agent: OTHER_AGENT }), verdict: 'intent_invalid agent_mismatch agent' },
  { json: (value) => ({ ...value, kid: 'f'.repeat(32) }), verdict: 'intent_invalid unknown_kid kid' },
  { signer: stranger, verdict: 'intent_invalid bad_signature kid' },
  {
    json: (value) => ({ ...value, iat: Number(value['iat']) - 3_600_000, exp: Number(value['exp']) - 3_600_000 }),
    verdict: 'intent_invalid expired exp',
  },
  { json: (value) => ({ ...value, tool: 'crm.get' }), verdict: 'intent_invalid tool_mismatch tool' },
  { json: (value) => ({ ...value, args_digest: digestOf('') }), verdict: 'intent_invalid args_mismatch args_digest' },
  { call: { onBehalfOf: 'someone' }, verdict: 'intent_invalid unsigned_obo Service-On-Behalf-Of' },
  { isReplay: true, verdict: 'intent_replay replay nonce' },
];

describe('the order of the checks (rule INTENT-2): of any two that fail, the first is told', () => {
  const USED = '1'.repeat(32);
  let scene: IntentScene;
  beforeAll(async () => {
    scene = await IntentScene.open('required');
    await scene.call(scene.sign({ nonce: USED }));
  });
  afterAll(() => scene.close());

  const attack = (attacks: readonly Attack[]): Promise<SubmittedAction> => {
    const isReplay = attacks.some((one) => one.isReplay === true);
    const claims = scene.claims({ nonce: isReplay ? USED : '2'.repeat(32) });
    const intent = { ...claims, v: 'service.intent/1', kid: scene.key.publicKey.kid } as JsonObject;
    const value = attacks.reduce((json, one) => one.json?.(json) ?? json, intent);
    const text = attacks.reduceRight((bytes, one) => one.text?.(bytes) ?? bytes, canonicalize(value));
    const signer = attacks.find((one) => one.signer !== undefined)?.signer ?? scene.key;
    const header = attacks.reduce((sent, one) => one.header?.(sent) ?? sent, signed(text, signer));
    return scene.call(header, Object.assign({}, ...attacks.map((one) => one.call ?? {})) as SignedCall);
  };

  const pairs = ATTACKS.flatMap((first, index) => ATTACKS.slice(index + 1).map((second) => [first, second] as const));

  it('has all 78 pairs of 13 checks', () => {
    expect([ATTACKS.length, pairs.length]).toEqual([13, 78]);
  });

  it.each(ATTACKS)('$verdict', async (one) => {
    expect(await refused(scene, () => attack([one]))).toBe(one.verdict);
  });

  it.each(pairs)('$verdict before $1.verdict', async (first, second) => {
    expect(await refused(scene, () => attack([first, second]))).toBe(first.verdict);
  });

  it('whatever was refused, the nonce is still there for the corrected intent (rule INTENT-3)', async () => {
    const { action } = await attack([]);
    expect((await scene.recorded(action)).submission.intent).toMatchObject({ nonce: '2'.repeat(32) });
  });
});

const signed = (text: string, signer: SigningKey): string => {
  const bytes = Buffer.from(text);
  return `${encodeBase64url(bytes)}.${encodeBase64url(signer.sign(intentInput(digestOf(bytes))))}`;
};

describe('every other reason', () => {
  let scene: IntentScene;
  beforeAll(async () => {
    scene = await IntentScene.open('required');
  });
  afterAll(() => scene.close());

  const whole = (changes: JsonObject = {}): string =>
    signed(
      canonicalize({
        ...(scene.claims({ nonce: '3'.repeat(32) }) as unknown as JsonObject),
        v: 'service.intent/1',
        kid: scene.key.publicKey.kid,
        ...changes,
      }),
      scene.key,
    );
  const verdictOn = (header: string, call: SignedCall = {}) => refused(scene, () => scene.call(header, call));

  it.each<[verdict: string, intent: () => JsonObject]>([
    ['intent_invalid schema nonce', () => ({ nonce: 'F'.repeat(32) })],
    ['intent_invalid version v', () => ({ v: 'service.intent/2' })],
    ['intent_invalid schema on_behalf_of', () => ({ on_behalf_of: '' })],
    ['intent_invalid schema __proto__', () => JSON.parse('{"__proto__": 1}') as JsonObject],
    ['intent_invalid org_mismatch org', () => ({ org: OTHER_ORG })],
    ['intent_invalid not_yet_valid iat', () => ({ iat: Date.now() + 90_000, exp: Date.now() + 100_000 })],
    ['intent_invalid ttl exp', () => ({ iat: Date.now(), exp: Date.now() + 301_000 })],
  ])('%s', async (verdict, intent) => {
    expect(await verdictOn(whole(intent()))).toBe(verdict);
  });

  it('syntax: the header twice', async () => {
    const header = whole();
    expect(await verdictOn('', { intent: [header, header] })).toBe(`intent_invalid syntax ${HEADER}`);
  });

  it('bad_signature: under the tag of deeds, or no tag at all (check 8)', async () => {
    const [part] = whole().split('.') as [string];
    const hash = digestOf(Buffer.from(part, 'base64url'));
    for (const message of [`${SEAL_TAG}\n${hash}`, hash]) {
      const header = `${part}.${encodeBase64url(scene.key.sign(Buffer.from(message)))}`;
      expect(await verdictOn(header)).toBe('intent_invalid bad_signature kid');
    }
  });

  it('faults of the arguments come before a wrong digest of them (check 11)', async () => {
    const deep = (depth: number): JsonObject => (depth === 1 ? {} : { a: deep(depth - 1) });
    const big = new StrictJsonError('big_int', 10, ['args']);
    expect(await verdictOn(whole(), { args: big })).toBe('intent_invalid big_int args');
    const unreadable: (JsonObject | StrictJsonError)[] = [
      new StrictJsonError('duplicate_key', 10, ['args']),
      deep(33),
      { text: 'x'.repeat(256 * 1024) },
    ];
    for (const args of unreadable) {
      expect(await verdictOn(whole(), { args })).toBe('intent_invalid args_not_canonicalizable args');
    }
    expect(await verdictOn(whole({ tool: 'crm.get' }), { args: big })).toBe('intent_invalid tool_mismatch tool');
  });

  it('malformed arguments are refused by the api if no intent is checked', async () => {
    const fault = new StrictJsonError('big_int', 10, ['args']);
    await scene.setMode('off');
    await expect(scene.call(whole(), { args: fault })).rejects.toBe(fault);
    await scene.setMode('required');
  });

  it.each<[verdict: string, intent: JsonObject, call: SignedCall]>([
    ['intent_invalid unsigned_obo Service-Session', {}, { session: 's' }],
    ['intent_invalid obo_mismatch Service-On-Behalf-Of', { on_behalf_of: 'a' }, { onBehalfOf: 'b' }],
    ['intent_invalid session_mismatch Service-Session', { session: 'a' }, { session: 'b' }],
    ['intent_invalid unsigned_obo Service-Session', { on_behalf_of: 'a' }, { onBehalfOf: 'b', session: 's' }],
  ])('%s (check 12)', async (verdict, intent, call) => {
    expect(await verdictOn(whole(intent), call)).toBe(verdict);
  });

  it('a reference that intent and header both name is fine', async () => {
    const { action } = await scene.call(whole({ on_behalf_of: 'a' }), { onBehalfOf: 'a' });
    expect((await scene.recorded(action)).submission).toMatchObject({ on_behalf_of: 'a', session: null });
  });

  it('is judged by the store, not by the cache of this process', async () => {
    const elsewhere = scene.bench.elsewhere().commands;
    const { org, agent } = scene.bench;
    const late = SigningKey.generate();
    await scene.call(scene.sign(), { since: 'remembered' }).catch(() => undefined);
    await elsewhere.execute(new AddIntentKey(org, agent, late.publicKey.text, scene.bench.metadata()));
    await expect(scene.call(scene.sign({}, late), { since: 'remembered' })).rejects.toBeInstanceOf(MustAsk);
    const { header } = createSignedIntent(scene.claims(), late);
    expect((await scene.call(header)).isRefused).toBe(false);
  });
});
