import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LivingAction } from '#libs/domain/gate';
import { idOf, streamOf, type ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { newEvent } from '../support/new-event.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];
const HOUR_MS = 60 * 60 * 1000;

let upstream: Upstream;
let bench: GateBench;
let scene: ApprovalScene;
let anna: Member;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
afterEach(() => bench.close());

/** Sets up a gate in which at most `limit` calls of an agent may wait for approval. */
const limited = async (limit: number): Promise<void> => {
  bench = new GateBench(new MemoryEventStore(), { waitingPerAgentMax: limit });
  await bench.prepare(upstream.baseUrl, TOOLS);
  scene = new ApprovalScene(bench);
  anna = await scene.member('admin');
  await scene.enforce();
};

const held = async (): Promise<ActionId> => (await bench.submit({ tool: 'crm.update', args: { name: 'Ada' } })).action;
const action = async (id: ActionId): Promise<LivingAction> => (await bench.action(id)) as LivingAction;
const statusOf = async (id: ActionId): Promise<string | undefined> => (await action(id)).approval?.status;

describe('calls of one agent that wait', () => {
  it('are limited, even if many come at once; one more is refused, with a time to retry', async () => {
    await limited(3);
    const ids = await Promise.all(Array.from({ length: 10 }, () => held()));
    const all = await Promise.all(ids.map(action));
    expect(all.filter(({ state }) => state === 'pending_approval')).toHaveLength(3);
    const refused = all.find(({ decision }) => decision?.outcome === 'deny');
    expect(refused?.decision).toMatchObject({ code: 'approval_limit_reached', source: 'builtin', rule_id: 'asked' });
    expect(refused?.decision?.message).toContain('This agent has 3 calls that wait for people');
    const askAgainMs = Date.parse(refused?.decision?.retry_at ?? '') - Date.parse(refused?.createdAt ?? '');
    expect(askAgainMs).toBe(60_000);
  });

  it('make room when they are decided or expire', async () => {
    await limited(2);
    const [first] = [await held(), await held()];
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    await scene.deny(first, anna);
    expect(await statusOf(await held())).toBe('pending');
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    bench.clock.jumpMs = 25 * HOUR_MS;
    expect(await statusOf(await held())).toBe('pending');
  });

  it('make room after a crash before the append; a late append is refused', async () => {
    await limited(1);
    const lost = idOf('act', Buffer.alloc(16, 7));
    await bench.places.take({ agent: bench.agent, action: lost, reservedMs: Date.now(), limit: 1 });
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    bench.clock.jumpMs = 61_000;
    expect(await statusOf(await held())).toBe('pending');
    expect(await bench.action(lost)).toMatchObject({ state: 'abandoned' });
  });

  it('keep their places if their events cannot be read, and hold up no others', async () => {
    await limited(2);
    const damaged = idOf('act', Buffer.alloc(16, 8));
    const stream = streamOf('action', damaged);
    const events = [newEvent({ type: 'ActionRescheduled' })];
    await bench.store.append({ stream, expectedRevision: 'no_stream', events });
    await bench.places.take({ agent: bench.agent, action: damaged, reservedMs: 0, limit: 2 });
    const waiting = await held();
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    await scene.deny(waiting, anna);
    expect(await statusOf(await held())).toBe('pending');
    expect((await bench.places.heldBy(bench.agent)).map((place) => place.action)).toContain(damaged);
  });

  it('continue if their places were lost, beside as many others as the limit allows', async () => {
    await limited(1);
    const before = await held();
    bench.places.rows.clear();
    const after = await held();
    expect([await statusOf(before), await statusOf(after)]).toEqual(['pending', 'pending']);
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    await scene.deny(before, anna);
    expect(await statusOf(before)).toBe('denied');
    expect((await action(await held())).decision?.code).toBe('approval_limit_reached');
    await scene.deny(after, anna);
    expect(await statusOf(await held())).toBe('pending');
  });
});
