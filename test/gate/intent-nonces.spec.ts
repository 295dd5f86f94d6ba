import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Digest, digestOf } from '#libs/crypto';
import { actionDecider, IntentRefused, type NonceReservation } from '#libs/domain/gate';
import { type ActionId, type AgentId, DomainError, idOf, streamRef } from '#libs/domain/kernel';
import { PostgresIntentNonces } from '#libs/infra/gate';
import { IntentScene } from '../support/intent-scene.js';
import { rejected } from '../support/thrown.js';

const NONCE = 'a'.repeat(32);
const MINUTE_MS = 60_000;
const newActionId = (byte: number): ActionId => idOf('act', Buffer.alloc(16, byte));

let scene: IntentScene;
beforeEach(async () => {
  scene = await IntentScene.open('required');
});
afterEach(() => scene.close());

const replayed = async (call: () => Promise<unknown>): Promise<void> => {
  const before = await scene.countActions();
  const { code, param, extra } = await rejected(IntentRefused, call());
  expect([code, param, extra]).toEqual(['intent_replay', 'nonce', { reason: 'replay' }]);
  expect(await scene.countActions()).toBe(before);
};

describe('a nonce is accepted once (check 13)', () => {
  it('the same call again under its Idempotency-Key is answered with its action (rule INTENT-7)', async () => {
    const header = scene.sign();
    const first = await scene.call(header, { idempotencyKey: 'k' });
    expect(await scene.call(header, { idempotencyKey: 'k' })).toEqual({ ...first, isReplay: true, isExecuting: false });
    expect([await scene.countActions(), await scene.countNonces()]).toEqual([1, 1]);
  });

  it('so is the same call with a freshly signed intent, whose nonce is not used up', async () => {
    const [first, fresh] = [await scene.call(scene.sign(), { idempotencyKey: 'k' }), scene.sign()];
    expect(await scene.call(fresh, { idempotencyKey: 'k' })).toEqual({ ...first, isReplay: true, isExecuting: false });
    expect((await scene.call(fresh)).isReplay).toBe(false);
  });

  it('under a used key with another person in its intent the call is another one (rule GATE-12)', async () => {
    await scene.call(scene.sign({ on_behalf_of: 'user:1' }), { idempotencyKey: 'k' });
    const other = scene.call(scene.sign({ on_behalf_of: 'user:2' }), { idempotencyKey: 'k' });
    expect((await rejected(DomainError, other)).code).toBe('idempotency_conflict');
    const same = await scene.call(scene.sign({ on_behalf_of: 'user:1' }), {
      idempotencyKey: 'k',
      onBehalfOf: 'user:1',
    });
    expect(same.isReplay).toBe(true);
  });

  it('the same intent with another key or none is refused, and nothing is recorded (rule INTENT-3)', async () => {
    const header = scene.sign();
    await scene.call(header, { idempotencyKey: 'k' });
    await replayed(() => scene.call(header, { idempotencyKey: 'another' }));
    await replayed(() => scene.call(header));
    await replayed(() => scene.call(scene.sign({ nonce: nonceOf(header) })));
  });

  it('a call that the policy denies has used it, too', async () => {
    await scene.bench.enforce('version: 1\ndefault: deny\n');
    const header = scene.sign();
    expect((await scene.call(header)).isRefused).toBe(true);
    await replayed(() => scene.call(header));
  });

  it('200 calls at once with one intent are one action (rule INTENT-3)', async () => {
    const header = scene.sign();
    const calls = Array.from({ length: 200 }, (_, index) => {
      const key = index % 2 === 0 ? {} : { idempotencyKey: `key ${index}` };
      return scene.call(header, { ...key, ...(index % 3 === 0 ? { since: 'remembered' as const } : {}) });
    });
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect([await scene.countActions(), await scene.countNonces()]).toEqual([1, 1]);
  });

  it('200 calls at once under one key are one action, whatever intents they carry', async () => {
    const header = scene.sign();
    const calls = Array.from({ length: 200 }, (_, index) =>
      scene.call(index % 2 === 0 ? header : scene.sign(), { idempotencyKey: 'k' }),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ action }) => action)).size).toBe(1);
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  });

  it('an outdated cache costs no nonce: the second try of the request has it', async () => {
    await scene.call(scene.sign());
    await scene.bench.changeElsewhere({ timeout_ms: 5_000 });
    const [header, metadata] = [scene.sign(), scene.bench.metadata()];
    const submit = (since?: 'remembered') =>
      scene.bench.submit(
        { tool: 'crm.update', args: { name: 'Ada' }, intent: [header] },
        scene.bench.handler(scene.starter),
        metadata,
        since,
      );
    await expect(submit('remembered')).rejects.toThrow();
    expect((await submit()).isReplay).toBe(false);
    await replayed(() => scene.call(header));
  });
});

const nonceOf = (header: string): string =>
  (JSON.parse(Buffer.from(header.split('.')[0] as string, 'base64url').toString()) as { nonce: string }).nonce;

describe('a reservation that no action followed', () => {
  const leave = async (action: ActionId, nonce = NONCE): Promise<void> => {
    const { agent, clock } = scene.bench;
    const now = clock.nowMs();
    const row = { agent, nonce, action, digest: digestOf('call'), reservedMs: now, expiresMs: now + 7 * MINUTE_MS };
    await scene.nonces.reserve(row);
  };
  const stateOf = async (action: ActionId): Promise<string> =>
    (await scene.bench.streams.load(streamRef(actionDecider, action))).state.state;

  it('holds its nonce for a minute; then it is taken over, and the id that was left behind is abandoned', async () => {
    const left = newActionId(1);
    await leave(left);
    const header = scene.sign({ nonce: NONCE, exp: scene.bench.clock.nowMs() + 4 * MINUTE_MS });
    await replayed(() => scene.call(header));
    scene.bench.clock.jumpMs = MINUTE_MS - 1_000;
    await replayed(() => scene.call(header));
    expect(await stateOf(left)).toBe('none');
    scene.bench.clock.jumpMs = MINUTE_MS + 1_000;
    const { action } = await scene.call(header);
    expect((await scene.recorded(action)).submission.intent).toMatchObject({ nonce: NONCE });
    expect(await stateOf(left)).toBe('abandoned');
    await replayed(() => scene.call(header));
  });

  it('of the same Idempotency-Key is its own: the retry of a call whose append was lost goes on at once', async () => {
    const header = scene.sign();
    const append = scene.bench.store.append.bind(scene.bench.store);
    scene.bench.store.append = () => Promise.reject(new Error('the process died here'));
    await expect(scene.call(header, { idempotencyKey: 'k' })).rejects.toThrow('died here');
    scene.bench.store.append = append;
    expect([await scene.countActions(), await scene.countNonces()]).toEqual([0, 1]);
    expect((await scene.call(header, { idempotencyKey: 'k' })).isReplay).toBe(false);
    expect([await scene.countActions(), await scene.countNonces()]).toEqual([1, 1]);
  });

  it('whose append comes after it was taken over makes no second action', async () => {
    const header = scene.sign({ nonce: NONCE, exp: scene.bench.clock.nowMs() + 4 * MINUTE_MS });
    const append = scene.bench.store.append.bind(scene.bench.store);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    scene.bench.store.append = async (...given) => {
      scene.bench.store.append = append;
      await held;
      return append(...given);
    };
    const slow = scene.call(header);
    // It may be rejected before it is awaited.
    slow.catch(() => undefined);
    while ((await scene.countNonces()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    scene.bench.clock.jumpMs = MINUTE_MS + 1_000;
    const fast = await scene.call(header);
    release();
    await replayed(() => slow);
    expect((await scene.recorded(fast.action)).submission.intent).toMatchObject({ nonce: NONCE });
  });

  it('of an action that carries another intent is free at once: it was a repetition', async () => {
    const { action } = await scene.call(scene.sign());
    await leave(action);
    expect((await scene.call(scene.sign({ nonce: NONCE }))).isReplay).toBe(false);
  });
});

describe('the rows of nonces', () => {
  const row = (changes: Partial<NonceReservation> = {}): NonceReservation => ({
    agent: 'agt_00000000000000000000000001' as AgentId,
    nonce: NONCE,
    action: newActionId(1),
    digest: digestOf('a'),
    reservedMs: 1_000,
    expiresMs: 2_000,
    ...changes,
  });
  const holder = (action: number, digest: Digest = digestOf('a')) => ({
    action: newActionId(action),
    digest,
    reservedMs: 1_000,
  });

  it('are of one agent, and the first to reserve holds one', async () => {
    const { nonces } = scene;
    expect(await nonces.reserve(row())).toMatchObject(holder(1));
    expect(await nonces.reserve(row({ action: newActionId(2) }))).toMatchObject(holder(1));
    const other = row({ agent: 'agt_00000000000000000000000002' as AgentId, action: newActionId(2) });
    expect(await nonces.reserve(other)).toMatchObject(holder(2));
  });

  it('asked for by many at once, in two processes, have one holder each', async () => {
    const processes = [scene.nonces, new PostgresIntentNonces(scene.pool)] as const;
    const asked = Array.from({ length: 400 }, (_, index) =>
      (processes[index % 2] as PostgresIntentNonces).reserve(
        row({ nonce: String(index % 3).repeat(32), action: newActionId(index % 250) }),
      ),
    );
    expect(new Set((await Promise.all(asked)).map(({ action }) => action)).size).toBe(3);
    expect(await scene.countNonces()).toBe(3);
  });

  it('are taken over from their holder, once', async () => {
    await scene.nonces.reserve(row());
    const taken = [2, 3].map((action) => scene.nonces.takeOver(row({ action: newActionId(action) }), newActionId(1)));
    expect((await Promise.all(taken)).filter(Boolean)).toHaveLength(1);
  });

  it('are removed when they have expired, and not before', async () => {
    await scene.nonces.reserve(row());
    await scene.nonces.reserve(row({ nonce: 'b'.repeat(32), expiresMs: 3_000 }));
    expect(await scene.nonces.removeExpired(2_000)).toBe(0);
    expect(await scene.nonces.removeExpired(2_001)).toBe(1);
    expect(await scene.countNonces()).toBe(1);
  });

  it('are kept longer than any clock within a minute of another accepts the intent', async () => {
    const exp = scene.bench.clock.nowMs() + MINUTE_MS;
    await scene.call(scene.sign({ nonce: NONCE, exp }));
    expect(await scene.nonces.removeExpired(exp + 6 * MINUTE_MS)).toBe(0);
    expect(await scene.nonces.removeExpired(exp + 6 * MINUTE_MS + 1)).toBe(1);
  });
});

describe('a call without an intent', () => {
  it('asks nothing about nonces, and gets an id of chance', async () => {
    await scene.setMode('optional');
    await scene.pool.query('drop table gate.intent_nonces');
    expect((await scene.call('', { intent: [] })).isReplay).toBe(false);
  });
});
