import { afterEach, describe, expect, it, vi } from 'vitest';
import { streamOf, timestampOf } from '#libs/domain/kernel';
import { ManualStarter } from '../support/gate-bench.js';
import { isRecorded, RecoveryScene, SILENCE_MS } from '../support/recovery-scene.js';

let scene: RecoveryScene;
afterEach(() => scene.close());

describe('a crash between claim and outcome', () => {
  it('of a once execution ends unknown, UNVERIFIABLE, and is never sent again (CP-11, CP-13)', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.update');
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'unknown', error_code: 'timeout' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['executor_lost'] },
    });
    expect(scene.upstream.countFor(id)).toBe(0);
  });

  it('of a repeatable one is taken over by another executor, under a new claim', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.get');
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'succeeded' },
      attempts: [{ executor: 'exe_lost' }, { attempt: 2, executor: 'exe_rescuer' }],
    });
    expect(scene.upstream.countFor(id)).toBe(1);
  });

  it('several sweepers at once send it once more, not twice', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.get');
    const others = [1, 2, 3].map((number) => scene.sweeperOf(scene.executorNamed(`exe_${number}`)));
    const deadline = performance.now() + 20_000;
    while (!isRecorded(await scene.bench.action(id)) && performance.now() < deadline) {
      await Promise.all(others.map((sweeper) => scene.turn(sweeper)));
    }
    expect(await scene.bench.action(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(scene.upstream.countFor(id)).toBe(1);
  });

  it('a living executor keeps its execution however long the call takes', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.update');
    await scene.turnFor(3 * SILENCE_MS, scene.sweeper, ['exe_lost']);
    expect(await scene.bench.action(id)).toMatchObject({ state: 'executing', outcome: null });
  });

  it.each([
    ['once', 'crm.update', { outcome: { status: 'unknown' }, attempts: [{ attempt: 1 }] }, 1],
    ['repeatable', 'crm.get', { outcome: { status: 'succeeded' }, attempts: [{ attempt: 1 }, { attempt: 2 }] }, 2],
  ])(
    'of a %s one waits for no deadline where a living executor could not record it',
    async (_runs, tool, end, sent) => {
      // A timeout that is longer than these tests wait for a sweep.
      scene = await RecoveryScene.set({ config: { timeout_ms: 60_000 } });
      const { bench, rescuer, upstream } = scene;
      const { action: id } = await bench.submit({ tool }, bench.handler(new ManualStarter(null, null)));
      vi.spyOn(bench.payloads, 'put').mockRejectedValueOnce(new Error('this result cannot be stored'));
      await expect(rescuer.claimAndRun(id, null)).rejects.toThrow('cannot be stored');
      expect(await bench.action(id)).toMatchObject({ state: 'executing', outcome: null });
      expect(await scene.sweepUntil(isRecorded, id)).toMatchObject(end);
      expect(upstream.countFor(id)).toBe(sent);
    },
  );

  it('an outcome that comes after it was given up is kept as evidence and changes nothing (rule EXEC-7)', async () => {
    scene = await RecoveryScene.set();
    const { bench, upstream } = scene;
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await bench.submit({ tool: 'crm.update' }, bench.handler(starter));
    await scene.sweepUntil(isRecorded, id);
    const [accepted] = starter.accepted;
    await scene.executorNamed('exe_lost').run(accepted!);
    // The send barrier lets the former executor send nothing, and its report comes too late.
    expect(upstream.countFor(id)).toBe(0);
    const events = await bench.store.readStream(streamOf('action', id));
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['LateReport', 'WitnessAmended']);
    expect(await bench.action(id)).toMatchObject({
      outcome: { status: 'unknown' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['late_report', 'service_unavailable'] },
    });
  });
});

describe('an execution that the queue forgot', () => {
  it('is found by the sweeper and runs once (CP-05, CP-06)', async () => {
    scene = await RecoveryScene.set();
    const { bench } = scene;
    const { action: id } = await bench.submit({ tool: 'crm.update' }, bench.handler(new ManualStarter(null, null)));
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(scene.upstream.countFor(id)).toBe(1);
  });

  it('runs once, even if the queue delivers its job again and again while it is swept', async () => {
    scene = await RecoveryScene.set();
    const { bench } = scene;
    const { action: id } = await bench.submit({ tool: 'crm.update' }, bench.handler(new ManualStarter(null, null)));
    for (let times = 0; times < 10; times += 1) await scene.queue.add('execute', id);
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(scene.upstream.countFor(id)).toBe(1);
  });

  it('fails, with nothing sent, if it was not claimed before start_by', async () => {
    scene = await RecoveryScene.set();
    const { bench } = scene;
    const longAgo = timestampOf(Date.now() - bench.gate.settings.startTimeoutMs - 1);
    const handler = bench.handler(new ManualStarter(null, null));
    const { action: id } = await bench.submit({ tool: 'crm.update' }, handler, bench.metadata(longAgo));
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'failed', error_code: 'service_unavailable' },
      attempts: [],
    });
    expect(scene.upstream.countFor(id)).toBe(0);
  });
});

describe('an execution whose stored arguments were changed behind the service’s back', () => {
  const changed = (id: string): void => {
    const { rows } = scene.bench.payloads;
    const key = [...rows.keys()].find((name) => name.startsWith(`${id} policy_input `))!;
    rows.set(key, rows.get(key)!.replace('"args":{}', '"args":{"id":"of another"}'));
    expect(rows.get(key)).toContain('of another');
  };
  const failed = { outcome: { status: 'failed', error_code: 'service_unavailable' } };

  it('sends nothing, and ends failed', async () => {
    scene = await RecoveryScene.set();
    const { bench, upstream } = scene;
    const { action: id } = await bench.submit({ tool: 'crm.update' }, bench.handler(new ManualStarter(null, null)));
    changed(id);
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({ ...failed, attempts: [{ attempt: 1 }] });
    expect(upstream.seen).toEqual([]);
    expect(scene.rescuerLogger.errors.map(String)).toEqual([
      expect.stringContaining(
        `the policy_input of ${id} that is stored beside the log is not the one that the log names`,
      ),
    ]);
  });

  it('sends nothing if it is taken over, and ends failed', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.get');
    changed(id);
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({ ...failed, attempts: [{}, { attempt: 2 }] });
    expect(scene.upstream.seen).toEqual([]);
  });
});

describe('a sweep', () => {
  it('waits for no upstream: one that hangs keeps no other execution (INV-16)', async () => {
    scene = await RecoveryScene.set({ answer: () => undefined });
    const hanging = await scene.lose('crm.get');
    const once = await scene.lose('crm.update');
    expect(await scene.sweepUntil(isRecorded, once)).toMatchObject({ outcome: { status: 'unknown' } });
    expect(await scene.bench.action(hanging)).toMatchObject({ state: 'executing', attempts: [{}, { attempt: 2 }] });
  });

  it('takes over no more calls of an organization at once than there is room for, and ends the others all the same', async () => {
    scene = await RecoveryScene.set({ answer: () => undefined });
    const hanging = await Promise.all(Array.from({ length: 12 }, () => scene.lose('crm.get')));
    const once = await scene.lose('crm.update');
    await scene.sweepUntil(isRecorded, once);
    await scene.turnFor(2 * SILENCE_MS);
    const actions = await Promise.all(hanging.map((id) => scene.bench.action(id)));
    expect(actions.filter((action) => 'attempts' in action && action.attempts.length === 2)).toHaveLength(8);
  });

  it.each([
    ['of a newer version', { type: 'ActionRescheduled', data: '{}' }, 'UnknownEventType'],
    ['that was damaged', { type: 'ExecutionFinished', data: '{' }, 'cannot be read: it was damaged or altered'],
  ])('names an action with an event %s once, and recovers every other', async (_, unread, told) => {
    scene = await RecoveryScene.set();
    const { store } = scene.bench;
    const [poisoned, other] = [await scene.lose('crm.update'), await scene.lose('crm.update')];
    const stream = streamOf('action', poisoned);
    const recorded = await store.readStream(stream);
    const { metadata, revision } = recorded.at(-1)!;
    const event = { id: '00000000-0000-8000-8000-000000000001', ...unread, metadata };
    await store.append({ stream, expectedRevision: revision, events: [event] });
    expect(await scene.sweepUntil(isRecorded, other)).toMatchObject({ outcome: { status: 'unknown' } });
    // It is the only open execution, and the store is available, so the sweep itself does not fail.
    await scene.turn();
    expect(scene.logger.errors.map(String)).toEqual([expect.stringContaining(told)]);
  });

  it('looks at every open execution, however many there are', async () => {
    scene = await RecoveryScene.set();
    const lost: string[] = [];
    for (let count = 0; count < 120; count += 1) lost.push(await scene.lose('crm.update'));
    expect(await scene.sweeper.sweep()).toEqual({ open: lost.length, recovered: 0 });
  });

  it('starts nothing more after its process stops', async () => {
    scene = await RecoveryScene.set();
    await scene.lose('crm.get');
    expect(await scene.sweeper.sweep(AbortSignal.abort())).toEqual({ open: 0, recovered: 0 });
  });
});

describe('the time of day, when it jumps by an hour (rule EXEC-5)', () => {
  const LONGEST_CALL = { timeout_ms: 100 };

  it('ends no execution whose executor lives', async () => {
    scene = await RecoveryScene.set();
    const id = await scene.lose('crm.update');
    scene.bench.clock.jumpMs = 3_600_000;
    await scene.turnFor(3 * SILENCE_MS, scene.sweeper, ['exe_lost']);
    expect(await scene.bench.action(id)).toMatchObject({ state: 'executing', outcome: null });
  });

  it('ends one that a living executor has lost, after its timeout and the time to record it', async () => {
    scene = await RecoveryScene.set({ config: LONGEST_CALL });
    const id = await scene.lose('crm.get');
    scene.bench.clock.jumpMs = -3_600_000;
    await scene.turnFor(LONGEST_CALL.timeout_ms + 3 * SILENCE_MS, scene.sweeper, ['exe_lost']);
    expect(await scene.bench.action(id)).toMatchObject({ outcome: { status: 'unknown' }, attempts: [{ attempt: 1 }] });
    expect(scene.upstream.countFor(id)).toBe(0);
  });
});
