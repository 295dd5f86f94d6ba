import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { BrokenStream, saltedPayload, StoreUnavailable, type ActionId, type OrgId } from '#libs/domain/kernel';
import type { RetentionCursor } from '#libs/domain/ledger';
import { DAY_MS, RetentionScene } from '../../../../test/support/retention-scene.js';
import { PostgresRetentionRows } from './postgres-retention-rows.js';

const DEFAULT_MS = 90 * DAY_MS;

let scene: RetentionScene;
let org: OrgId;
beforeEach(async () => {
  scene = await RetentionScene.start();
  org = await scene.organization();
});
afterEach(() => scene.close());

/** Removes batches until nothing is due, and returns how many bodies were removed. */
const round = async (retention = scene.retention(), of = org): Promise<number> => {
  let removed = 0;
  for (;;) {
    const batch = await retention.removeBatch(of);
    removed += batch.removed;
    if (!batch.hasMore) return removed;
  }
};

/** Seals one action and lets a day pass, so many times. */
const days = async (count: number): Promise<readonly ActionId[]> => {
  const actions: ActionId[] = [];
  for (let day = 0; day < count; day += 1) {
    actions.push(await scene.sealed(org));
    scene.pass(DAY_MS);
  }
  return actions;
};

describe('retention: the bodies of an action', () => {
  it('stay for 90 days from its deed on, and go a millisecond later', async () => {
    const action = await scene.sealed(org);
    scene.pass(DEFAULT_MS);
    expect(await round()).toBe(0);
    expect(await scene.bodiesOf(action)).toEqual([2]);
    scene.pass(1);
    expect(await round()).toBe(2);
    expect(await scene.bodiesOf(action)).toEqual([0]);
  });

  it('stay for the days of its own organization', async () => {
    const other = await scene.organization();
    const [mine, theirs] = [await scene.sealed(org), await scene.sealed(other)];
    await scene.keepFor(org, 3);
    scene.pass(3 * DAY_MS);
    expect(await round()).toBe(0);
    scene.pass(1);
    expect(await round()).toBe(2);
    expect(await round(scene.retention(), other)).toBe(0);
    expect(await scene.bodiesOf(mine, theirs)).toEqual([0, 2]);
  });

  it('go at the next round after the days were lowered, and do not come back when they are raised', async () => {
    const [first, second] = (await days(2)) as [ActionId, ActionId];
    await scene.keepFor(org, 1);
    expect(await round()).toBe(2);
    expect(await scene.bodiesOf(first, second)).toEqual([0, 2]);
    await scene.keepFor(org, 3_650);
    scene.pass(DAY_MS);
    expect(await round()).toBe(0);
    expect(await scene.bodiesOf(first, second)).toEqual([0, 2]);
  });

  it('stay while it has no deed, however old it is', async () => {
    const unsealed = await scene.recorded(org);
    scene.pass(2 * DEFAULT_MS);
    expect(await round()).toBe(0);
    expect(await scene.bodiesOf(unsealed)).toEqual([2]);
    await scene.seal();
    scene.pass(DEFAULT_MS);
    expect(await round()).toBe(0);
    scene.pass(1);
    expect(await round()).toBe(2);
  });

  it('go with all payloads of the action, named by an event or not', async () => {
    const action = await scene.sealed(org);
    for (const body of ['{"late":true}', '{"lost":true}']) {
      await scene.payloads.put({ owner: action, org, kind: 'result', digest: digestOf(body), body });
    }
    scene.pass(DEFAULT_MS + 1);
    expect(await round()).toBe(4);
  });

  it('go with the salts under which deeds commit to them, and no others go', async () => {
    const [due, young] = (await days(2)) as [ActionId, ActionId];
    const body = '{"late":true}';
    for (const owner of [due, young]) {
      await scene.payloads.put(saltedPayload({ owner, org, kind: 'result', digest: digestOf(body), body }));
    }
    const salted = async (): Promise<readonly string[]> =>
      (await scene.pool.query<{ owner: string }>('select distinct owner from gate.payload_salts')).rows
        .map(({ owner }) => owner)
        .sort();
    expect(await salted()).toEqual([due, young].sort());
    scene.pass(DEFAULT_MS - DAY_MS);
    await round();
    expect(await salted()).toEqual([young]);
  });

  it('stay if the log does not have the organization', async () => {
    const action = await scene.sealed(org);
    scene.pass(DEFAULT_MS + 1);
    expect(await round(scene.retention(), 'org_00000000000000000000000009' as OrgId)).toBe(0);
    expect(await scene.bodiesOf(action)).toEqual([2]);
  });
});

describe('retention: batches', () => {
  it('take the given number of deeds each, in the order of the ledger, admin deeds included', async () => {
    const actions = await days(5);
    scene.pass(DEFAULT_MS);
    const retention = scene.retention(2);
    // The first deed is that of the organization's creation.
    expect(await retention.removeBatch(org)).toEqual({ deeds: 2, removed: 2, hasMore: true });
    expect(await scene.bodiesOf(...actions)).toEqual([0, 2, 2, 2, 2]);
    expect(await retention.removeBatch(org)).toEqual({ deeds: 2, removed: 4, hasMore: true });
    expect(await scene.cursor(org)).toBe(3);
    expect(await retention.removeBatch(org)).toEqual({ deeds: 2, removed: 4, hasMore: true });
    expect(await retention.removeBatch(org)).toEqual({ deeds: 0, removed: 0, hasMore: false });
  });

  it('take 500 at most, over several pages of the ledger', async () => {
    for (let number = 1; number <= 520; number += 1) await scene.bench.recordAction(org);
    await scene.seal();
    scene.pass(DEFAULT_MS + 1);
    expect(await scene.retention().removeBatch(org)).toEqual({ deeds: 500, removed: 0, hasMore: true });
    expect(await scene.retention().removeBatch(org)).toEqual({ deeds: 21, removed: 0, hasMore: false });
  });

  it('read one deed if none is due', async () => {
    await days(3);
    const reads = vi.spyOn(scene.store, 'readStream');
    expect(await round()).toBe(0);
    expect(reads.mock.calls.filter(([stream]) => stream.startsWith('ledger-'))).toHaveLength(1);
  });

  it('are halved while the database has no time for them, and grow again', async () => {
    await days(9);
    scene.pass(DEFAULT_MS);
    const remove = vi.spyOn(scene.rows, 'remove');
    const retention = scene.retention(4);
    for (let time = 1; time <= 3; time += 1) {
      remove.mockRejectedValueOnce(new StoreUnavailable('canceled'));
      await expect(retention.removeBatch(org)).rejects.toThrow(StoreUnavailable);
    }
    const sizes: number[] = [];
    for (let batch = 1; batch <= 4; batch += 1) sizes.push((await retention.removeBatch(org)).deeds);
    expect(sizes).toEqual([1, 2, 4, 3]);
  });
});

describe('retention: a crash', () => {
  beforeEach(async () => {
    await days(2);
    scene.pass(DEFAULT_MS);
  });

  const die = (when: string) =>
    scene.pool.query(
      `create or replace function gate.die() returns trigger language plpgsql as $$
         begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
       create constraint trigger die ${when} deferrable initially deferred for each row execute function gate.die()`,
    );

  it.each([
    ['after the bodies', 'after delete on gate.payloads', 'gate.payloads'],
    ['after the cursor', 'after insert or update on gate.retention', 'gate.retention'],
  ])('%s, before the commit, undoes both, and the next round does both', async (_, when, table) => {
    for (let time = 1; time <= 2; time += 1) {
      await die(when);
      await expect(round()).rejects.toThrow(StoreUnavailable);
      expect((await scene.pool.query('select from gate.payloads')).rowCount).toBe(4);
      expect(await scene.cursor(org)).toBeNull();
      await scene.pool.query(`drop trigger die on ${table}`);
    }
    expect(await round()).toBe(4);
    expect(await scene.cursor(org)).toBe(2);
  });

  it('after the commit and before its answer lets the next round continue there', async () => {
    class Unheard extends PostgresRetentionRows {
      override async remove(...batch: Parameters<PostgresRetentionRows['remove']>): Promise<number | null> {
        await super.remove(...batch);
        throw new StoreUnavailable('the answer was lost');
      }
    }
    const unheard = scene.retention(2, new Unheard(scene.pool));
    await expect(round(unheard)).rejects.toThrow(StoreUnavailable);
    expect(await scene.cursor(org)).toBe(1);
    expect(await round()).toBe(2);
    expect(await scene.cursor(org)).toBe(2);
  });

  it('of a process that was overtaken removes nothing and moves nothing back', async () => {
    const stale = { org, revision: 1, bodyHash: digestOf('stale') };
    await round(scene.retention(2));
    await days(1);
    const action = await scene.sealed(org);
    expect(await scene.rows.remove([action], null, stale)).toBeNull();
    expect(await scene.rows.remove([action], stale, stale)).toBeNull();
    expect([await scene.cursor(org), ...(await scene.bodiesOf(action))]).toEqual([2, 2]);
  });

  it('leaves several processes that go on at once with one of them moving each time', async () => {
    const removed = await Promise.all(Array.from({ length: 4 }, () => round(scene.retention(1))));
    const left = await round();
    expect(removed.reduce((sum, one) => sum + one, left)).toBe(4);
  });
});

describe('retention: a database that was restored', () => {
  it('bodies of a backup, with the older cursor beside them, are removed once more', async () => {
    await days(2);
    await scene.pool.query(
      'create table kept as select * from gate.payloads; create table place as select * from gate.retention',
    );
    scene.pass(DEFAULT_MS);
    expect(await round()).toBe(4);
    await scene.pool.query(
      `insert into gate.payloads overriding system value select * from kept;
       truncate gate.retention; insert into gate.retention select * from place`,
    );
    expect(await round()).toBe(4);
    expect(await scene.cursor(org)).toBe(2);
  });

  it('a log that went on otherwise has a cursor that counts for nothing, and begins anew', async () => {
    const [first] = (await days(2)) as [ActionId];
    const elsewhere: RetentionCursor = { org, revision: 2, bodyHash: digestOf('a deed that was lost') };
    expect(await scene.rows.remove([], null, elsewhere)).toBe(0);
    expect([await scene.cursor(org), await scene.reach.passedUpTo(org)]).toEqual([2, null]);
    scene.pass(DEFAULT_MS - DAY_MS);
    expect(await round()).toBe(2);
    expect([await scene.cursor(org), await scene.reach.passedUpTo(org)]).toEqual([1, 1]);
    expect(await scene.bodiesOf(first)).toEqual([0]);
  });

  it('a ledger that is shorter than the cursor says is begun anew, too', async () => {
    await days(1);
    await scene.rows.remove([], null, { org, revision: 700, bodyHash: digestOf('beyond') });
    expect(await scene.reach.passedUpTo(org)).toBeNull();
    scene.pass(DEFAULT_MS);
    expect(await round()).toBe(2);
  });
});

describe('retention: a deed that is not as it was sealed', () => {
  it('stops the removal at it: its bodies and later ones stay, earlier ones go', async () => {
    const actions = await days(3);
    scene.pass(DEFAULT_MS);
    await scene.pool.query(
      `update event_store.events set data = replace(data, '\\"kind\\":\\"action\\"', '\\"kind\\":\\"akcion\\"')
        where stream = $1 and revision = 2`,
      [`ledger-${org}`],
    );
    expect(await round()).toBe(2);
    await expect(round()).rejects.toThrow(BrokenStream);
    expect(await scene.bodiesOf(...actions)).toEqual([0, 2, 2]);
  });
});

describe('whether a body may be missing', () => {
  const sealingOf = async (action: ActionId): Promise<bigint> => {
    const recorded = await scene.store.readStream(`action-${action}`);
    return recorded.at(-1)!.position;
  };

  it('is answered by the cursor, deed by deed', async () => {
    const [first, second] = (await days(2)) as [ActionId, ActionId];
    const passed = async () => [
      await scene.reach.hasPassed(org, await sealingOf(first)),
      await scene.reach.hasPassed(org, await sealingOf(second)),
    ];
    expect(await passed()).toEqual([false, false]);
    scene.pass(DEFAULT_MS - DAY_MS);
    await round();
    expect(await passed()).toEqual([true, false]);
    expect(await scene.reach.hasPassedAction(org, `action-${first}`)).toBe(true);
    expect(await scene.reach.hasPassedAction(org, `action-${second}`)).toBe(false);
    scene.pass(DAY_MS);
    await round();
    expect(await passed()).toEqual([true, true]);
  });

  it('is not said of an action without a deed', async () => {
    const unsealed = streamOfAction(await scene.recorded(org, 'executed'));
    expect(await scene.reach.hasPassedAction(org, unsealed)).toBe(false);
    expect(await scene.reach.hasPassedAction(org, 'action-none')).toBe(false);
  });
});

const streamOfAction = (action: ActionId): string => `action-${action}`;
