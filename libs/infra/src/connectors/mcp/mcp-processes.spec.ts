import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';
import { discoveredStatusOf } from '#libs/domain/connectors';
import { MemoryEventStore } from '#libs/infra/event-store';

import { cleanUpAfterEach, givenMcp, type McpHarness } from './testing/given-mcp.js';
import { legacyAnswers, TOOL } from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const listing = (changes: JsonObject) => ({ 'tools/list': () => ({ tools: [{ ...TOOL, ...changes }] }) });
const CHANGED = listing({ description: 'Sends it to somebody else.' });
const HELD = { status: 'failed', errorCode: 'connector_unavailable', hasSent: false };

const statuses = async ({ connector }: McpHarness) => (await connector()).discovered?.tools.map(discoveredStatusOf);
/** How often a list was recorded. */
const recordings = async (store: MemoryEventStore): Promise<number> => {
  const all = await store.readAll(0n, 1_000);
  return all.filter(({ type }) => type === 'ConnectorToolsRecorded').length;
};

describe('what a server changes between the lives of a process', () => {
  it('is not called by the next one, whose memory is empty: the log is the memory', async () => {
    const harness = await givenMcp();
    expect(await harness.send()).toMatchObject({ status: 'succeeded' });
    harness.server.set(CHANGED);
    const next = harness.another();
    expect(await next.send()).toMatchObject(HELD);
    expect(await statuses(harness)).toEqual(['changed']);
    expect(await harness.another().send()).toMatchObject(HELD);
    expect(harness.server.of('tools/call')).toHaveLength(1);
  });

  it('where nothing changed the first call of the next one runs, in a session of its own', async () => {
    const harness = await givenMcp({
      answers: legacyAnswers('2025-11-25', ['list', 'first', 'list-again', 'second']),
    });
    await harness.send();
    expect(await harness.another().send()).toMatchObject({ status: 'succeeded' });
    const sessions = harness.server.of('tools/call').map(({ headers }) => headers['mcp-session-id']);
    expect(sessions).toEqual(['first', 'second']);
  });
});

describe('two processes', () => {
  it('that see a change at the same moment record it once, and neither calls', async () => {
    const store = new MemoryEventStore();
    const harness = await givenMcp({ store, config: { tools_ttl_ms: 0 } });
    const other = harness.another();
    harness.server.set(CHANGED);
    const before = await recordings(store);
    const outcomes = await Promise.all([harness.send(), other.send(), harness.send(), other.send()]);
    for (const outcome of outcomes) expect(outcome).toMatchObject(HELD);
    expect((await recordings(store)) - before).toBe(1);
    expect(await statuses(harness)).toEqual(['changed']);
    expect(harness.server.of('tools/call')).toHaveLength(0);
  });

  it('one whose list is young does not call what the other has seen changed', async () => {
    const harness = await givenMcp();
    const other = harness.another();
    expect(await other.send()).toMatchObject({ status: 'succeeded' });
    harness.server.set(CHANGED);
    await harness.refresh();
    expect(await other.send()).toMatchObject(HELD);
    expect(harness.server.of('tools/call')).toHaveLength(1);
  });

  it('of which each meets another version behind a balancer fill no log, and never call the changed one', async () => {
    const store = new MemoryEventStore();
    const harness = await givenMcp({ store, config: { tools_ttl_ms: 0 } });
    const processes = [harness, harness.another()];
    const before = await recordings(store);
    let lists = 0;
    const calledAfter: string[] = [];
    harness.server.set({
      'tools/list': () => ({ tools: [(lists += 1) % 2 === 0 ? TOOL : { ...TOOL, title: 'Other' }] }),
      'tools/call': () => {
        calledAfter.push(lists % 2 === 0 ? 'accepted' : 'other');
        return { content: [] };
      },
    });
    for (let round = 0; round < 40; round += 1) {
      const outcome = await processes[round % 2]?.send();
      if (outcome?.status !== 'succeeded') expect(outcome).toMatchObject(HELD);
    }
    expect(calledAfter.filter((version) => version === 'other')).toEqual([]);
    expect((await recordings(store)) - before).toBeLessThanOrEqual(10);
  });
});
