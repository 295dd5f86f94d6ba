import { connect } from 'node:net';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLoggedDatabase, followLog, type LoggedDatabase } from '../../../../test/support/change-log.js';
import { deferred } from '../../../../test/support/deferred.js';
import { compareLsn } from './lsn.js';
import { createSlot, dropSlot, logIdentityOf, slotStateOf } from './slots.js';

let logged: LoggedDatabase;

beforeAll(async () => {
  logged = await createLoggedDatabase();
  await logged.client.query('create table t (id int primary key); create table unpublished (id int)');
  await logged.publish('t');
});
afterAll(() => logged.drop());
beforeEach(() => logged.client.query('delete from t'));

let next = 0;
const insert = async () => {
  next += 1;
  await logged.client.query('insert into t values ($1)', [next]);
  return next;
};
const idsOf = (seen: readonly { rows: readonly { new: readonly unknown[] | null }[] }[]) =>
  seen
    .flatMap(({ rows }) => rows.flatMap(({ new: after }) => after ?? []))
    .map((value) => Number((value as { text: string }).text));
const state = async () => {
  const found = await slotStateOf(logged.client, logged.slot);
  if (found === null) throw new Error('there is no slot');
  return found;
};
const currentLsn = async () =>
  (await logged.client.query<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn')).rows[0]?.lsn ?? '';

describe('change log reader', () => {
  it('gives each committed transaction once, in order, and acknowledges the end of the last', async () => {
    const log = followLog(logged);
    const ids = [await insert(), await insert(), await insert()];
    // The rows of the test before were deleted first.
    while (idsOf(log.seen).length < 3) await log.has(log.seen.length + 1);
    expect(idsOf(log.seen)).toEqual(ids);
    await log.stop();
    const end = log.seen.at(-1)?.end_lsn ?? '';
    expect(compareLsn((await state()).confirmedLsn ?? '', end)).toBeGreaterThanOrEqual(0);
    const again = followLog(logged);
    const last = await insert();
    expect(idsOf(await again.has(1))).toEqual([last]);
    await again.stop();
    expect(again.seen).toHaveLength(1);
  });

  it('loses no commit that stands right behind the one that was acknowledged last', async () => {
    const other = new pg.Client({ connectionString: logged.connectionString });
    await other.connect();
    try {
      let isAdjacent = false;
      while (!isAdjacent) {
        const [one, two] = [(next += 1), (next += 1)];
        await logged.client.query(`begin; insert into t values (${one})`);
        await other.query(`begin; insert into t values (${two})`);
        await Promise.all([logged.client.query('commit'), other.query('commit')]);
        const atFirst = new AbortController();
        const reader = followLog(logged, {
          signal: atFirst.signal,
          // Ended during the first that was just written: acknowledged is this one and nothing behind it.
          onTransaction: (seen) => Promise.resolve(idsOf([seen]).some((id) => id >= one) ? atFirst.abort() : undefined),
        });
        await reader.ended;
        const [first] = reader.seen.slice(-1);
        expect((await state()).confirmedLsn).toBe(first?.end_lsn);
        const rest = followLog(logged);
        const [second] = await rest.has(1);
        await rest.stop();
        expect([...idsOf(reader.seen.slice(-1)), ...idsOf(rest.seen)].sort()).toEqual([one, two].sort());
        isAdjacent = first?.end_lsn === second?.commit_lsn;
      }
    } finally {
      await other.end();
    }
  });

  it('gives again exactly what was not acknowledged when its handler failed', async () => {
    const failure = new Error('no place to keep it');
    const ids = [await insert(), await insert(), await insert()];
    const log = followLog(logged, {
      onTransaction: (seen) => (idsOf([seen])[0] === ids[1] ? Promise.reject(failure) : Promise.resolve()),
    });
    await expect(log.ended).rejects.toBe(failure);
    expect(idsOf(log.seen)).toEqual([ids[0]]);
    const again = followLog(logged);
    expect(idsOf(await again.has(2))).toEqual([ids[1], ids[2]]);
    await again.stop();
  });

  it('gives so many at once, and acknowledges none before all that committed before it', async () => {
    const ids = [await insert(), await insert(), await insert(), await insert()];
    const [first, second, begun] = [deferred<undefined>(), deferred<undefined>(), [] as number[]];
    const log = followLog(logged, {
      ...{ atOnce: 3, statusIntervalMs: 5 },
      onTransaction: async (seen) => {
        begun.push(...idsOf([seen]));
        if (idsOf([seen])[0] === ids[0]) await first.promise;
        if (idsOf([seen])[0] === ids[1]) await second.promise;
      },
    });
    const isSeen = async (...expected: readonly (number | undefined)[]) => {
      await expect.poll(() => idsOf(log.seen)).toEqual(expected);
    };
    await isSeen(ids[2]);
    const third = log.seen.at(-1)?.end_lsn ?? '';
    const start = (await state()).confirmedLsn ?? '';
    // Asked by the server all the while.
    for (let count = 0; count < 20; count += 1) await logged.client.query('insert into unpublished values (1)');
    expect(begun).toEqual(ids.slice(0, 3));
    second.resolve(undefined);
    await isSeen(ids[2], ids[1]);
    expect((await state()).confirmedLsn).toBe(start);
    expect(log.positions.filter((lsn) => compareLsn(lsn, start) > 0)).toEqual([]);
    first.resolve(undefined);
    await isSeen(ids[2], ids[1], ids[0], ids[3]);
    await log.stop();
    expect(log.positions).toContain(third);
  });

  it('gives again what was handled behind the one whose handler failed, and nothing before it', async () => {
    const failure = new Error('no place to keep it');
    const ids = [await insert(), await insert(), await insert()];
    const [isThird, first] = [deferred<undefined>(), deferred<undefined>()];
    const log = followLog(logged, {
      atOnce: 3,
      onTransaction: async (seen) => {
        const [id] = idsOf([seen]);
        if (id === ids[0]) await first.promise;
        if (id === ids[2]) isThird.resolve(undefined);
        if (id === ids[1]) throw failure;
      },
    });
    await isThird.promise;
    first.resolve(undefined);
    await expect(log.ended).rejects.toBe(failure);
    const again = followLog(logged);
    expect(idsOf(await again.has(2))).toEqual([ids[1], ids[2]]);
    await again.stop();
  });

  it('gives again what was being handled when the connection was cut', async () => {
    const id = await insert();
    const [started, finish] = [deferred<undefined>(), deferred<undefined>()];
    const log = followLog(logged, {
      onTransaction: async (seen) => {
        if (idsOf([seen])[0] !== id) return;
        started.resolve(undefined);
        await finish.promise;
      },
    });
    await started.promise;
    await logged.client.query(
      'select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = $1',
      [logged.slot],
    );
    finish.resolve(undefined);
    await expect(log.ended).rejects.toMatchObject({
      reason: expect.stringMatching(/connection_lost|unavailable/) as string,
    });
    const again = followLog(logged);
    expect(idsOf(await again.has(1))).toEqual([id]);
    await again.stop();
  });

  it('does not acknowledge while a transaction is being handled, however often the server asks', async () => {
    const id = await insert();
    const [started, finish] = [deferred<undefined>(), deferred<undefined>()];
    const log = followLog(logged, {
      statusIntervalMs: 5,
      onTransaction: async (seen) => {
        if (idsOf([seen])[0] !== id) return;
        started.resolve(undefined);
        await finish.promise;
      },
    });
    await started.promise;
    const before = await currentLsn();
    for (let count = 0; count < 20; count += 1) await logged.client.query('insert into unpublished values (1)');
    expect(compareLsn((await state()).confirmedLsn ?? '', before)).toBeLessThan(0);
    expect(log.positions.filter((lsn) => compareLsn(lsn, before) >= 0)).toEqual([]);
    finish.resolve(undefined);
    await log.has(1);
    await log.stop();
  });

  it('moves on where nothing is published, so that the server keeps nothing for it', async () => {
    const log = followLog(logged);
    await logged.client.query('insert into unpublished select generate_series(1, 1000)');
    const behind = await currentLsn();
    await expect.poll(async () => compareLsn((await state()).confirmedLsn ?? '', behind) >= 0).toBe(true);
    expect(log.positions.some((lsn) => compareLsn(lsn, behind) >= 0)).toBe(true);
    expect([...log.positions].sort(compareLsn)).toEqual(log.positions);
    await log.stop();
    expect(idsOf(log.seen)).toEqual([]);
  });

  it('says that a place was passed only after the transactions before it were handled', async () => {
    const passed: string[] = [];
    const log = followLog(logged, {
      onPosition: (lsn) => passed.push(lsn),
      onTransaction: (seen) => {
        expect(passed.filter((lsn) => compareLsn(lsn, seen.commit_lsn) > 0)).toEqual([]);
        return Promise.resolve();
      },
    });
    for (let count = 0; count < 50; count += 1) await insert();
    while (idsOf(log.seen).length < 50) await log.has(log.seen.length + 1);
    await log.stop();
  });

  it('leaves a crowd at the server while the first is handled, and then gives all of it', async () => {
    const first = await insert();
    const finish = deferred<undefined>();
    let [ahead, most] = [0, 0];
    const log = followLog(logged, {
      connection: {
        ...logged.connection,
        connect: async () => {
          const stream = await logged.connection.connect();
          stream.on('data', (bytes: Buffer) => (ahead += bytes.byteLength));
          return stream;
        },
      },
      onTransaction: async (seen) => {
        // The rows of the crowd have numbers of their own, which may be the same.
        if (seen.tables[0]?.table !== 'public.t' || idsOf([seen])[0] !== first) return;
        await finish.promise;
        most = ahead;
      },
    });
    await logged.client.query('create table wide (id int primary key, body text)');
    await logged.publish('wide');
    for (let id = 0; id < 300; id += 1) {
      await logged.client.query(`insert into wide values ($1, repeat('w', 60000))`, [id]);
    }
    finish.resolve(undefined);
    while (log.seen.filter(({ tables }) => tables[0]?.table === 'public.wide').length < 300)
      await log.has(log.seen.length + 1);
    await log.stop();
    expect(most).toBeLessThan(4 * 1024 * 1024);
    expect(ahead).toBeGreaterThan(17_000_000);
  });

  it('ends at once where nothing is handled, and not at all begins once it was ended', async () => {
    const log = followLog(logged);
    await insert();
    await log.has(1);
    await log.stop();
    await followLog(logged, { signal: AbortSignal.abort(), onFound: () => expect.fail('it looked') }).ended;
    expect((await state()).isActive).toBe(false);
  });

  it('says which log it found before it reads, and reads nothing where that is refused', async () => {
    const id = await insert();
    const refusal = new Error('another log');
    const { systemId, timeline } = await logIdentityOf(logged.client);
    const { confirmedLsn } = await state();
    const log = followLog(logged, {
      onFound: (found) => {
        expect(found).toEqual({ systemId, timeline, confirmedLsn, serverVersion: expect.any(Number) as number });
        expect(found.serverVersion).toBeGreaterThanOrEqual(180_000);
        return Promise.reject(refusal);
      },
    });
    await expect(log.ended).rejects.toBe(refusal);
    expect((await state()).confirmedLsn).toBe(confirmedLsn);
    const again = followLog(logged);
    while (!idsOf(again.seen).includes(id)) await again.has(again.seen.length + 1);
    await again.stop();
  });
});

describe('a change log that cannot be read', () => {
  it('has another reader', async () => {
    const log = followLog(logged);
    await insert();
    await log.has(1);
    await expect(followLog(logged).ended).rejects.toMatchObject({ reason: 'slot_in_use' });
    await log.stop();
  });

  it('has no slot of that name', async () => {
    await expect(followLog({ ...logged, slot: 'ags_none' }).ended).rejects.toMatchObject({ reason: 'slot_missing' });
  });

  it('has no publication of that name', async () => {
    const elsewhere = { ...logged, publication: `it's "none"` };
    await expect(followLog(elsewhere).ended).rejects.toMatchObject({ reason: 'publication_missing' });
  });

  it('has a slot of another plugin or database', async () => {
    const slot = `${logged.slot}_other`;
    await logged.client
      .query(`select pg_create_logical_replication_slot($1, 'test_decoding')`, [slot])
      .catch(() => logged.client.query('select pg_create_physical_replication_slot($1)', [slot]));
    await expect(followLog({ ...logged, slot }).ended).rejects.toMatchObject({ reason: 'slot_foreign' });
    await logged.client.query('select pg_drop_replication_slot($1)', [slot]);
  });

  it('is of a database that is not there, of a role that is not known, or of one that may not replicate', async () => {
    const as = (changed: object) => followLog({ ...logged, connection: { ...logged.connection, ...changed } }).ended;
    await expect(as({ database: 'none' })).rejects.toMatchObject({ reason: 'no_database' });
    await expect(as({ password: 'wrong' })).rejects.toMatchObject({ reason: 'authentication' });
    await expect(as({ user: 'nobody_here' })).rejects.toMatchObject({ reason: 'authentication' });
    const user = `${logged.slot}_plain`;
    await logged.client.query(`create role ${user} login password 'plain'`);
    await expect(as({ user, password: 'plain' })).rejects.toMatchObject({ reason: 'permission', sqlState: '42501' });
    await logged.client.query(`drop role ${user}`);
  });

  it('is of a server that nobody answers for, or that is none', async () => {
    const unreachable = { ...logged.connection, connect: () => Promise.reject(new Error('blocked')) };
    await expect(followLog({ ...logged, connection: unreachable }).ended).rejects.toMatchObject({
      reason: 'unreachable',
    });
    const { port } = new URL(logged.connectionString);
    const hangsUp = {
      ...logged.connection,
      connect: async () => {
        const socket = connect(Number(port), '127.0.0.1');
        await once(socket, 'connect');
        return socket.end();
      },
    };
    await expect(followLog({ ...logged, connection: hangsUp }).ended).rejects.toMatchObject({
      reason: 'connection_lost',
    });
  });
});

describe('slots', () => {
  it('are made once and dropped once', async () => {
    const slot = `${logged.slot}_made`;
    expect([await createSlot(logged.client, slot), await createSlot(logged.client, slot)]).toEqual([true, false]);
    expect(await slotStateOf(logged.client, slot)).toMatchObject({
      plugin: 'pgoutput',
      isActive: false,
      walStatus: 'reserved',
    });
    expect([await dropSlot(logged.client, slot), await dropSlot(logged.client, slot)]).toEqual([true, false]);
    expect(await slotStateOf(logged.client, slot)).toBeNull();
  });

  it('say how far behind their reader is, and what the server keeps for them', async () => {
    const before = await state();
    await logged.client.query(`select pg_logical_emit_message(true, 'filler', repeat('f', 1000000))`);
    const after = await state();
    expect((after.lagBytes ?? 0) - (before.lagBytes ?? 0)).toBeGreaterThan(900_000);
    expect(after.heldBytes).toBeGreaterThanOrEqual(after.lagBytes ?? 0);
    expect(after).toMatchObject({ safeBytes: null, isActive: false });
  });

  it('are not dropped where they are a standby’s', async () => {
    const slot = `${logged.slot}_standby`;
    await logged.client.query(`select pg_create_physical_replication_slot('${slot}')`);
    expect(await dropSlot(logged.client, slot)).toBe(false);
    expect(await slotStateOf(logged.client, slot)).not.toBeNull();
    await logged.client.query(`select pg_drop_replication_slot('${slot}')`);
  });

  it('are not dropped where they are of another database', async () => {
    const other = await createLoggedDatabase();
    expect(await dropSlot(logged.client, other.slot)).toBe(false);
    expect(await slotStateOf(other.client, other.slot)).not.toBeNull();
    await other.drop();
  });

  it('are not dropped under a reader', async () => {
    const log = followLog(logged);
    await insert();
    await log.has(1);
    await expect(dropSlot(logged.client, logged.slot)).rejects.toMatchObject({
      reason: 'slot_in_use',
      sqlState: '55006',
    });
    await log.stop();
  });

  it.each(['', 'Upper', `x'; drop table t; --`, 'a'.repeat(64), 'a b'])('have no name like %j', async (slot) => {
    await expect(slotStateOf(logged.client, slot)).rejects.toThrow(RangeError);
    await expect(createSlot(logged.client, slot)).rejects.toThrow(RangeError);
    await expect(dropSlot(logged.client, slot)).rejects.toThrow(RangeError);
    await expect(followLog({ ...logged, slot }).ended).rejects.toThrow(RangeError);
  });
});
