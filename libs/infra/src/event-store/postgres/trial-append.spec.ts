import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { START } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../../test/support/new-event.js';
import { CoalescingAppender } from './coalescing-appender.js';
import { PostgresEventStore } from './postgres-event-store.js';

/** How long an append of another process may take before it counts as blocked. */
const DEADLINE_MS = 5_000;

type Ask = (...sent: readonly unknown[]) => Promise<unknown>;
interface Asked {
  readonly query: Ask;
}

/** A pool of a process that stops after each answer of the server, until `meanwhile` is over. */
const standingStill = (pool: pg.Pool, meanwhile: () => Promise<unknown>): pg.Pool => {
  const patiently = (asked: unknown): Asked => ({
    query: async (...sent) => {
      const answer = await (asked as Asked).query(...sent);
      await meanwhile();
      return answer;
    },
  });
  const connect = async (): Promise<unknown> => {
    const client = await pool.connect();
    return { ...patiently(client), release: (error?: Error) => client.release(error) };
  };
  return { ...patiently(pool), connect } as unknown as pg.Pool;
};

describe('an append on trial', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createTestDatabase();
    const { connectionString } = database;
    store = new PostgresEventStore({
      connectionString,
      applicationName: 'of another process',
      onConnectionLost: () => undefined,
      deadlineMs: DEADLINE_MS,
    });
    pool = new pg.Pool({ connectionString, max: 1 });
  });
  afterEach(async () => {
    await pool.end();
    await store.close();
    await database.drop();
  });

  it('blocks no other writer, wherever its process stops', async () => {
    const appended: unknown[] = [];
    const still = standingStill(pool, async () => appended.push(await store.append(firstOf(newStream()))));
    const appender = new CoalescingAppender(
      still,
      { deadlineMs: DEADLINE_MS, functions: null },
      { onDeparture: () => null, onAnswered: () => undefined, onFailed: () => undefined },
    );
    await appender.requireAppends();
    expect(appended).not.toEqual([]);
    const events = await store.readAll(START, 10);
    expect(events.map(({ type }) => type)).toEqual(appended.map(() => 'SomethingHappened'));
  });
});
