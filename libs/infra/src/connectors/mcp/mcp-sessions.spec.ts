import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { LiveConnector } from '#libs/domain/connectors';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock } from '#libs/infra/runtime';

import { legacyAnswers, sendText } from '../../../../../test/support/mcp-server.js';
import { McpSessions } from './mcp-sessions.js';
import { type McpLine, McpWire } from './mcp-wire.js';
import { AGENT, cleanUpAfterEach, type McpHarness, TOKEN, unaskedMcp } from './testing/given-mcp.js';

cleanUpAfterEach();

/** Whose monotonic time a test moves. */
class MovedClock extends SystemClock {
  movedMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.movedMs;
  }
}

let clock: MovedClock;
let door: EgressDoor;
let harness: McpHarness;
let connector: LiveConnector;
let sessions: McpSessions;
let lastId = 0;

beforeEach(async () => {
  clock = new MovedClock();
  harness = await unaskedMcp({ answers: legacyAnswers('2025-11-25', ['one', 'two', 'three']) });
  connector = await harness.connector();
  door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  sessions = new McpSessions(new McpWire(door, clock), clock, harness.vault);
});
afterEach(() => door.close());

const line = (changes: Partial<LiveConnector> = {}): McpLine => ({
  connector: { ...connector, ...changes },
  credential: { headers: [['Authorization', `Bearer ${TOKEN}`]], secrets: [TOKEN] },
  deadlineMonotonicMs: clock.monotonicMs() + 10_000,
  mayPrepare: () => Promise.resolve(null),
});
const idOf = async (changes: Partial<LiveConnector> = {}) =>
  (await sessions.of(line(changes), AGENT, () => (lastId += 1))).id;

describe('a session with a server', () => {
  it('is used again while it is fresh, without a question', async () => {
    expect([await idOf(), await idOf()]).toEqual(['one', 'one']);
    clock.movedMs += 14_000;
    expect(await idOf()).toBe('one');
    expect(harness.server.of('ping')).toHaveLength(0);
  });

  it('that was idle for fifteen seconds is asked whether it lives', async () => {
    await idOf();
    clock.movedMs += 16_000;
    expect(await idOf()).toBe('one');
    const [ping] = harness.server.of('ping');
    expect(ping?.headers).toMatchObject({ 'mcp-session-id': 'one', 'mcp-protocol-version': '2025-11-25' });
    harness.server.set({ ping: (request) => sendText(request, 404) });
    clock.movedMs += 16_000;
    expect(await idOf()).toBe('two');
  });

  it('is of one credential and one config', async () => {
    await idOf();
    const { credential } = connector;
    expect(await idOf({ credential: credential && { ...credential, version: 'v2' } })).toBe('two');
    expect(await idOf({ configHash: `sha256:${'0'.repeat(64)}` as LiveConnector['configHash'] })).toBe('three');
    expect(await idOf()).toBe('one');
  });

  it('ends five minutes after its last use, with the credential of then', async () => {
    await idOf();
    clock.movedMs += 299_000;
    sessions.endIdle();
    clock.movedMs += 2_000;
    sessions.endIdle();
    const ended = () => harness.server.requests.filter(({ httpMethod }) => httpMethod === 'DELETE');
    await vi.waitFor(() => expect(ended()).toHaveLength(1), { timeout: 20_000 });
    expect(ended()[0]?.headers).toMatchObject({ 'mcp-session-id': 'one', authorization: `Bearer ${TOKEN}` });
    expect(await idOf()).toBe('two');
  });
});
