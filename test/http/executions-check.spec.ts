import { beforeEach, describe, expect, it, vi } from 'vitest';
import { UnfinishedExecutions } from '#libs/domain/gate';
import { START, timestampOf } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { executionsCheck } from '../../apps/api/src/health/health-check.js';
import { SetClock } from '../support/ledger-fixtures.js';
import { newEvent } from '../support/new-event.js';

describe('the executions check', () => {
  const LIMIT_MS = 10_000;
  const CALL = 'action-act_1';
  let time: SetClock;
  let store: MemoryEventStore;
  let isExecutorThere: boolean;
  beforeEach(() => {
    time = new SetClock();
    store = new MemoryEventStore();
    isExecutorThere = false;
  });
  const at = (): string => JSON.stringify({ org: null, at: timestampOf(time.nowMs()) });
  const allowCall = async (): Promise<void> => {
    const types = ['ActionSubmitted', 'ActionDecided', 'ExecutionReady'];
    const events = types.map((type) => newEvent({ type, metadata: at() }));
    await store.append({ stream: CALL, expectedRevision: 'no_stream', events });
  };
  const endCall = () =>
    store.append({
      stream: CALL,
      expectedRevision: 2,
      events: [newEvent({ type: 'ExecutionFinished', metadata: at() })],
    });
  const newCheck = () =>
    executionsCheck({
      isExecutorThere: async () => isExecutorThere,
      head: () => store.head(),
      unfinished: new UnfinishedExecutions(store, { list: async () => [], foldedUpTo: async () => START }),
      patienceMs: LIMIT_MS,
      clock: time,
    });

  it('is degraded where nobody executes what was allowed a while ago, also at its first answer', async () => {
    const executions = newCheck();
    expect(await executions.check()).toBe('ok');
    await allowCall();
    time.ms += LIMIT_MS - 1;
    expect([await executions.check(), await newCheck().check()]).toEqual(['ok', 'ok']);
    time.ms += 1;
    expect([await executions.check(), await newCheck().check()]).toEqual(['degraded', 'degraded']);
    await endCall();
    expect([await executions.check(), await newCheck().check()]).toEqual(['ok', 'ok']);
  });

  it('is ok however long calls wait where somebody executes, and asks the log nothing', async () => {
    await allowCall();
    time.ms += 60 * LIMIT_MS;
    isExecutorThere = true;
    const asked = [vi.spyOn(store, 'head'), vi.spyOn(store, 'readAll'), vi.spyOn(store, 'readStream')];
    const executions = newCheck();
    expect(await executions.check()).toBe('ok');
    for (const each of asked) expect(each).not.toHaveBeenCalled();
    isExecutorThere = false;
    expect(await executions.check()).toBe('degraded');
  });
});
