import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, digestOfJson } from '#libs/crypto';
import { CANDIDATE, compiled, someCalls } from '../../../../test/support/arbitrary-calls.js';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { inOneOrder, naiveReplay } from '../../../../test/support/naive-replay.js';
import { OPERATOR, type Clock } from '../kernel/index.js';
import type { CompiledPolicies } from '../policies/index.js';
import { SLOW_POLICY } from '../../../../test/support/given-slow-policy.js';
import { RecordedCalls, type RecordedCall, type ReplayCursor } from './recorded-calls.port.js';
import type { Replay, ReplayResult, ReplayWindow } from './replay.js';
import { ReplayWork, type ReplayUnderWay } from './replay-rows.port.js';
import { ATTEMPTS_MAX, runReplay } from './replay-run.js';

const PAGE = 7;
const POLICY = compiled(CANDIDATE);
/** What is in force in some tests: it lets through what the candidate asks about, and refuses what it reads. */
const IN_FORCE = compiled(`version: 1
default: deny
rules:
  - id: pay
    match:
      tools:
        - pay.*
    decision: allow
`);
const VERSION_IN_FORCE = { policy: testId('pol', 2), versionId: testId('pv', 2), version: 4 };
const NEVER = new AbortController().signal;

class HeldCalls extends RecordedCalls {
  constructor(private readonly calls: readonly RecordedCall[]) {
    super();
  }

  override count(): Promise<number> {
    return Promise.resolve(this.calls.length);
  }

  override page(_org: string, _window: ReplayWindow, after: ReplayCursor | null): Promise<readonly RecordedCall[]> {
    const from = after === null ? 0 : this.calls.findIndex(({ action }) => action === after.action) + 1;
    return Promise.resolve(this.calls.slice(from, from + PAGE));
  }
}

class Killed extends Error {}

/** A row of which only what was written outlives a kill. */
class HeldWork extends ReplayWork {
  row: ReplayUnderWay & { readonly replay: Replay } = {
    replay: {
      id: testId('rpl', 1),
      org: TEST_ORG,
      purpose: 'manual',
      policy: testId('pol', 1),
      versionId: testId('pv', 1),
      version: 1,
      inForce: null,
      from: testTime(0),
      to: testTime(10_000),
      requestedBy: OPERATOR,
      total: 0,
      createdAt: testTime(0),
      status: 'queued',
      done: 0,
      result: null,
      digest: null,
      errorCode: null,
      endedAt: null,
    },
    cursor: null,
    sums: null,
    attempts: 0,
  };
  constructor(inForce: Replay['inForce'] = null) {
    super();
    this.row = { ...this.row, replay: { ...this.row.replay, inForce } };
  }

  /** Writes before the process is killed: in the middle of one the row has it or has it not, here it has it. */
  writesLeft = Infinity;

  private get isOpen(): boolean {
    return ['queued', 'running'].includes(this.row.replay.status);
  }

  override takeUp(): Promise<ReplayUnderWay | null> {
    if (!this.isOpen) return Promise.resolve(null);
    const { replay, attempts } = this.row;
    this.row = { ...this.row, replay: { ...replay, status: 'running' }, attempts: attempts + 1 };
    return Promise.resolve(this.row);
  }

  override save(...[done, cursor, sums]: Parameters<ReplayWork['save']>): Promise<boolean> {
    const kept = JSON.parse(JSON.stringify(sums)) as typeof sums;
    return this.write({ done }, { cursor, sums: kept, attempts: 0 });
  }

  override succeed(...[done, result, digest, endedAt]: Parameters<ReplayWork['succeed']>): Promise<boolean> {
    return this.write({ status: 'succeeded', done, result, digest, endedAt });
  }

  override fail(...[errorCode, endedAt]: Parameters<ReplayWork['fail']>): Promise<boolean> {
    return this.write({ status: 'failed', errorCode, endedAt });
  }

  cancel(): void {
    this.row = { ...this.row, replay: { ...this.row.replay, status: 'cancelled' } };
  }

  private write(replay: Partial<Replay>, row: Partial<ReplayUnderWay> = {}): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false);
    this.row = { ...this.row, ...row, replay: { ...this.row.replay, ...replay } };
    this.writesLeft -= 1;
    return this.writesLeft < 0 ? Promise.reject(new Killed()) : Promise.resolve(true);
  }
}

/** Each look at the clock is `stepMs` later. */
const clockOf = (stepMs: number): Clock => {
  let now = 0;
  return { nowMs: () => 0, monotonicMs: () => (now += stepMs) };
};

const run = (
  calls: readonly RecordedCall[],
  work: ReplayWork,
  { stepMs = 0, held = NEVER, pause = async () => {} } = {},
) =>
  runReplay(
    {
      calls: new HeldCalls(calls),
      policies: {
        load: (_policy, versionId) =>
          Promise.resolve({ isUsable: true, policy: versionId === VERSION_IN_FORCE.versionId ? IN_FORCE : POLICY }),
      },
      clock: clockOf(stepMs),
      pause,
    },
    work,
    held,
  );

const found = ({ row }: HeldWork): ReplayResult | null => row.replay.result && inOneOrder(row.replay.result);
const expected = (calls: readonly RecordedCall[]): ReplayResult => inOneOrder(naiveReplay(POLICY, calls));

describe('a replay', () => {
  it('finds what a plain loop over the same inputs finds', () =>
    fc.assert(
      fc.asyncProperty(someCalls(0, 60), async (calls) => {
        const work = new HeldWork();
        expect(await run(calls, work)).toBe('succeeded');
        expect(found(work)).toEqual(expected(calls));
        expect(work.row.replay).toMatchObject({ done: calls.length, digest: digestOfJson(work.row.replay.result) });
      }),
    ));

  it('finds the same when it is killed after any of its writes and taken up again, to the last byte', () =>
    fc.assert(
      fc.asyncProperty(someCalls(0, 40), fc.integer({ min: 0, max: 20 }), async (calls, writes) => {
        const whole = new HeldWork();
        await run(calls, whole);
        const work = new HeldWork();
        work.writesLeft = writes;
        // With these steps it saves after every third call.
        await run(calls, work, { stepMs: 400 }).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
        work.writesLeft = Infinity;
        await run(calls, work, { stepMs: 400 });
        expect(work.row.replay).toEqual(whole.row.replay);
      }),
    ));

  it('compares with the version that was in force when it was asked for, also when it is killed and taken up again', () =>
    fc.assert(
      fc.asyncProperty(someCalls(0, 40), fc.integer({ min: 0, max: 20 }), async (calls, writes) => {
        const work = new HeldWork(VERSION_IN_FORCE);
        work.writesLeft = writes;
        await run(calls, work, { stepMs: 400 }).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
        work.writesLeft = Infinity;
        await run(calls, work, { stepMs: 400 });
        expect(found(work)).toEqual(inOneOrder(naiveReplay(POLICY, calls, IN_FORCE)));
      }),
    ));

  it('compares with a refusal of every call where the version in force compiles no more, as the gate refuses them', async () => {
    const [calls] = fc.sample(someCalls(40, 40), 1) as [readonly RecordedCall[]];
    const work = new HeldWork(VERSION_IN_FORCE);
    const policies: Pick<CompiledPolicies, 'load'> = {
      load: (_policy, versionId) =>
        Promise.resolve(
          versionId === VERSION_IN_FORCE.versionId
            ? { isUsable: false, reason: 'version does not compile' }
            : { isUsable: true, policy: POLICY },
        ),
    };
    const parts = { calls: new HeldCalls(calls), policies, clock: clockOf(0), pause: () => Promise.resolve() };
    expect(await runReplay(parts, work, NEVER)).toBe('succeeded');
    expect(found(work)).toEqual(inOneOrder(naiveReplay(POLICY, calls, compiled('version: 1\ndefault: deny\n'))));
  });

  it('that is told to end saves what it has and is left to others', async () => {
    const [calls] = fc.sample(someCalls(20, 20), 1) as [readonly RecordedCall[]];
    const ending = new AbortController();
    const pause = (): Promise<void> => Promise.resolve(ending.abort());
    const work = new HeldWork();
    expect(await run(calls, work, { stepMs: 100, held: ending.signal, pause })).toBe('left');
    expect(work.row).toMatchObject({ replay: { status: 'running', done: 1 }, attempts: 0 });
    expect(await run(calls, work)).toBe('succeeded');
    expect(found(work)).toEqual(expected(calls));
  });

  it('that is cancelled meanwhile writes nothing more', async () => {
    const [calls] = fc.sample(someCalls(20, 20), 1) as [readonly RecordedCall[]];
    const work = new HeldWork();
    const pause = (): Promise<void> => Promise.resolve(work.cancel());
    expect(await run(calls, work, { stepMs: 1_000, pause })).toBe('left');
    expect(work.row.replay).toMatchObject({ status: 'cancelled', done: 0, result: null });
    expect(await run(calls, work)).toBe('left');
  });

  it('counts calls apart that the version takes too long for: it says nothing of them', async () => {
    const slow = compiled(SLOW_POLICY);
    const [call] = (fc.sample(someCalls(100, 100), 1) as [readonly RecordedCall[]])[0].filter(
      ({ decision, input }) => decision === 'allow' && input !== null,
    );
    const text = JSON.stringify({ ...(JSON.parse(call?.input ?? '') as object), args: { amount: 1 } });
    const calls = new HeldCalls([{ ...(call as RecordedCall), input: text, inputDigest: digestOf(text) }]);
    const policies: Pick<CompiledPolicies, 'load'> = { load: () => Promise.resolve({ isUsable: true, policy: slow }) };
    const work = new HeldWork();
    await runReplay({ calls, policies, clock: clockOf(0), pause: async () => {}, limitMs: 1 }, work, NEVER);
    expect(found(work)).toMatchObject({ judged: 0, skipped: { time_limit: 1 }, by_rule: [] });
  });

  it('fails where its version compiles no more', async () => {
    const work = new HeldWork();
    const policies: Pick<CompiledPolicies, 'load'> = {
      load: () => Promise.resolve({ isUsable: false, reason: 'version does not compile' }),
    };
    const parts = { calls: new HeldCalls([]), policies, clock: clockOf(0), pause: () => Promise.resolve() };
    expect(await runReplay(parts, work, NEVER)).toBe('failed');
    expect(work.row.replay).toMatchObject({ status: 'failed', errorCode: 'policy_unavailable', result: null });
  });

  it('fails when whoever runs it has come to nothing too often', async () => {
    const work = new HeldWork();
    work.row = { ...work.row, attempts: ATTEMPTS_MAX };
    expect(await run([], work)).toBe('failed');
    expect(work.row.replay).toMatchObject({ status: 'failed', errorCode: 'internal_error' });
  });
});
