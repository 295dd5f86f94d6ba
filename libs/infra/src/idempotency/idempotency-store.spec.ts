import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Clock, StoreUnavailable } from '#libs/domain/kernel';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { type Claim, type ClaimedKey, IdempotencyStore, REMEMBERED_MS } from './idempotency-store.js';

class SetClock extends Clock {
  ms = Date.parse('2026-10-01T00:00:00Z');
  override nowMs = (): number => this.ms;
  override monotonicMs = (): number => this.ms;
}

const LOCK_MS = 35_000;
const PEPPER = new Uint8Array(32).fill(7);
const ANSWER = { status: 201, headers: { Location: '/v1/x' }, body: '{"a":"\\u0000 ü"}' };

let database: TestDatabase;
let pool: pg.Pool;
let clock: SetClock;
let store: IdempotencyStore;

beforeAll(async () => {
  database = await createTestDatabase();
  // Nothing here is about what survives a crash of the server.
  const options = '-c synchronous_commit=off';
  pool = new pg.Pool({ connectionString: database.connectionString, max: 16, options });
  await Promise.all(Array.from({ length: 4 }, () => installSchemas(pool, ['idempotency'])));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate idempotency.request');
  clock = new SetClock();
  store = new IdempotencyStore(pool, clock, new SystemRandomness(), PEPPER);
});

let minted = 0;
const claim = (change: { org?: string; principal?: string; key?: string; fingerprint?: string } = {}): Promise<Claim> =>
  store.claim({
    scope: { org: change.org ?? 'org_1', principal: change.principal ?? 'agt_1', key: change.key ?? 'k' },
    fingerprint: change.fingerprint ?? 'same',
    commandId: `command-${++minted}`,
    lockMs: LOCK_MS,
  });
const claimed = async (...change: Parameters<typeof claim>): Promise<ClaimedKey> => {
  const taken = await claim(...change);
  if (taken.outcome !== 'claimed') throw new Error(`the key was ${taken.outcome}`);
  return taken;
};

describe('IdempotencyStore', () => {
  it('gives the first answer to the same request, byte for byte', async () => {
    await store.finish(await claimed(), ANSWER);
    expect(await claim()).toEqual({ outcome: 'finished', answer: ANSWER });
  });

  it('lets exactly one of many racing requests run', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, async () => (await claim()).outcome));
    expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'in_use')).toHaveLength(99);
  });

  it('tells a different request under the key apart, running or finished', async () => {
    const first = await claimed();
    expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
    await store.finish(first, ANSWER);
    expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
  });

  it.each([{ org: 'org_2' }, { principal: 'agt_2' }, { key: 'K' }, { key: 'k ' }, { key: '%' }])(
    'keeps %j apart from the same key elsewhere',
    async (change) => {
      await claimed();
      expect((await claim(change)).outcome).toBe('claimed');
    },
  );

  it('does not let a key be built that reads as another principal’s', async () => {
    await claimed({ principal: 'agt_1', key: '5:agt_2x' });
    expect((await claim({ principal: 'agt_15:agt_2', key: 'x' })).outcome).toBe('claimed');
  });

  it('runs a retry when the lock of the first try ran out, under the command id of the first', async () => {
    const first = await claimed();
    clock.ms += LOCK_MS - 1;
    expect((await claim()).outcome).toBe('in_use');
    clock.ms += 1;
    const second = await claimed();
    expect(second.commandId).toBe(first.commandId);
    expect((await claim()).outcome).toBe('in_use');
  });

  it('does not hand an abandoned try to a different request', async () => {
    await claimed();
    clock.ms += LOCK_MS;
    expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
  });

  it('lets only the try that holds the claim say how it ended', async () => {
    const first = await claimed();
    clock.ms += LOCK_MS;
    const second = await claimed();
    await store.finish(first, { ...ANSWER, body: 'late' });
    await store.release(first);
    expect((await claim()).outcome).toBe('in_use');
    await store.finish(second, ANSWER);
    await store.finish(second, { ...ANSWER, body: 'twice' });
    expect(await claim()).toEqual({ outcome: 'finished', answer: ANSWER });
  });

  it('forgets a released key: the next request is the first, with a command id of its own', async () => {
    const first = await claimed();
    await store.release(first);
    expect((await claimed({ fingerprint: 'other' })).commandId).not.toBe(first.commandId);
  });

  it('remembers a key for 24 hours and not a millisecond longer', async () => {
    const first = await claimed();
    await store.finish(first, ANSWER);
    clock.ms += REMEMBERED_MS - 1;
    expect((await claim()).outcome).toBe('finished');
    clock.ms += 1;
    expect((await claimed({ fingerprint: 'other' })).commandId).not.toBe(first.commandId);
  });

  it('purges what is no longer remembered and nothing else', async () => {
    for (let key = 0; key < 1_500; key += 1) await store.finish(await claimed({ key: `old-${key}` }), ANSWER);
    clock.ms += REMEMBERED_MS;
    await store.finish(await claimed({ key: 'new' }), ANSWER);
    await claimed({ key: 'running' });
    expect(await store.purge()).toBe(1_500);
    expect((await claim({ key: 'new' })).outcome).toBe('finished');
    expect((await claim({ key: 'running' })).outcome).toBe('in_use');
  });

  it('keeps the key itself out of the database', async () => {
    await store.finish(await claimed({ key: 'canary-key' }), ANSWER);
    const { rows } = await pool.query<{ row: string }>('select request::text as row from idempotency.request');
    expect(rows.map(({ row }) => row).join()).not.toContain('canary-key');
  });

  const fingerprints = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ fingerprint: string }>(
      'select fingerprint from idempotency.request order by id',
    );
    return rows.map(({ fingerprint }) => fingerprint);
  };

  it('keeps of a fingerprint what nobody without the pepper can test a guess by, and no two rows alike', async () => {
    await claimed({ key: 'a' });
    await claimed({ key: 'b' });
    const [a, b] = await fingerprints();
    for (const each of [a, b]) expect(each).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(a).not.toBe(b);
    // One key alone depends on the pepper: under another the same request is not known again.
    store = new IdempotencyStore(pool, clock, new SystemRandomness(), new Uint8Array(32).fill(8));
    expect((await claim({ key: 'a' })).outcome).toBe('conflict');
  });

  describe('a row of a version that kept the plain fingerprint', () => {
    const asBefore = () => pool.query(`update idempotency.request set fingerprint = 'same'`);

    it('answers the same request and refuses another, running or finished', async () => {
      const first = await claimed();
      await asBefore();
      expect((await claim()).outcome).toBe('in_use');
      expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
      await store.finish(first, ANSWER);
      expect(await claim()).toEqual({ outcome: 'finished', answer: ANSWER });
      expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
    });

    it('is taken over by the same request when its lock ran out, and is plain no more', async () => {
      const first = await claimed();
      await asBefore();
      clock.ms += LOCK_MS;
      expect((await claim({ fingerprint: 'other' })).outcome).toBe('conflict');
      expect((await claimed()).commandId).toBe(first.commandId);
      expect(await fingerprints()).toEqual([expect.stringMatching(/^hmac-sha256:/)]);
    });
  });

  it('says so when the database does not answer', async () => {
    const absent = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
    store = new IdempotencyStore(absent, clock, new SystemRandomness(), PEPPER);
    await expect(claim()).rejects.toBeInstanceOf(StoreUnavailable);
    await absent.end();
  });
});
