import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogHasHole, MemoryEventStore } from '#libs/infra/event-store';
import {
  ActionRow,
  LocalProjections,
  OtherIdentity,
  PROJECTION_NAMES,
  type ProjectionName,
  type RowDifference,
} from '#libs/infra/read-models';
import { anyText, arbitraryLog } from '../../../../test/support/arbitrary-log.js';
import { followLog } from '../../../../test/support/follow-log.js';
import {
  finished,
  GivenLog,
  sealed,
  started,
  TEST_ORG,
  testId,
  witnessed,
} from '../../../../test/support/given-log.js';
import { withoutEventAt } from '../../../../test/support/log-with-hole.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { silentBus } from '../../../../test/support/silent-bus.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { UnreadableEvent, type Projection } from '../projection.js';
import { ProjectionRunner } from '../projection-runner.js';
import { PROJECTIONS } from '../projections.js';
import type { FoldParts } from './fold-beside.js';
import { ProjectionVerification, RowsBegunAnew, type Verified } from './projection-verification.js';

const DEEDS_AT_ONCE = 500;
const EVERY_TABLE = PROJECTIONS.flatMap(({ rowTypes }) => rowTypes);

let readModels: TestReadModels;
let log: GivenLog;

beforeAll(async () => {
  readModels = await createTestReadModels();
});
afterAll(() => readModels.drop());
beforeEach(async () => {
  log = new GivenLog(new MemoryEventStore());
  await readModels.forgetCheckpoints(...PROJECTION_NAMES);
});

const projectionOf = (name: ProjectionName): Projection => PROJECTIONS.find((each) => each.name === name)!;
const givenLife = (number: number): Promise<void> =>
  log.append(`action-${testId('act', number)}`, ...started(number), finished(number), witnessed(number));
const givenDeeds = async (count: number): Promise<void> => {
  const deeds = Array.from({ length: count }, (_, index) => sealed(index + 1));
  for (let next = 0; next < count; next += DEEDS_AT_ONCE) {
    await log.append(`ledger-${TEST_ORG}`, ...deeds.slice(next, next + DEEDS_AT_ONCE));
  }
};
const project = (...names: readonly ProjectionName[]): Promise<void[]> =>
  Promise.all(names.map((name) => followLog(projectionOf(name), log.store, readModels.projections, 500)));
const verify = (
  projection: Projection | ProjectionName,
  parts: Partial<FoldParts> = {},
  onFolding: (events: number) => void = () => undefined,
  onComparing: (rows: number, ofRows: number) => void = () => undefined,
): Promise<Verified> =>
  new ProjectionVerification(
    typeof projection === 'string' ? projectionOf(projection) : projection,
    { store: log.store, source: readModels.source, ...parts },
    onFolding,
    onComparing,
  ).run();
const leftBehind = () =>
  readModels.source.query<{ nspname: string }[]>(
    `SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'read_models_rebuild')`,
  );
const change = async (statement: string, ...values: unknown[]): Promise<void> => {
  await readModels.source.query(statement, values);
};

describe('a projection that is verified', () => {
  it('is what the log gives, of every log that the types allow, and stays as it is', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog(anyText), async (appends) => {
        log = new GivenLog(new MemoryEventStore());
        for (const { stream, events } of appends) await log.append(stream, ...events);
        await readModels.forgetCheckpoints(...PROJECTION_NAMES);
        await project(...PROJECTION_NAMES);
        const rows = await readModels.dump(...EVERY_TABLE);
        const head = await log.store.head();
        for (const pageEvents of [4_000, 7, 1]) {
          let compared = 0;
          for (const { name } of PROJECTIONS) {
            const verified = await verify(name, { pageEvents });
            expect(verified).toMatchObject({ position: head, events: Number(head) + 1, differenceCount: 0 });
            compared += verified.rows;
          }
          expect(compared).toBe(rows.length);
        }
        expect(await readModels.dump(...EVERY_TABLE)).toEqual(rows);
        expect(await leftBehind()).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });

  it('names rows that were changed, removed and invented behind its back, and leaves them as they are', async () => {
    for (let number = 1; number <= 4; number += 1) await givenLife(number);
    await project('actions');
    const [first, second, third] = [1, 2, 3].map((number) => testId('act', number));
    await change(
      `UPDATE read_models.actions SET folded = replace(folded, 'crm.', 'erp.'), level = 'L3' WHERE id = $1`,
      first,
    );
    await change(`DELETE FROM read_models.actions WHERE id = $1`, second);
    await change(`UPDATE read_models.actions SET id = 'act_invented' WHERE id = $1`, third);
    const rows = await readModels.dump('actions');
    const { differences, differenceCount } = await verify('actions');
    expect(differences).toEqual<RowDifference[]>([
      { table: 'actions', key: [first!], kind: 'changed', columns: ['level', 'folded'] },
      { table: 'actions', key: [second!], kind: 'missing', columns: [] },
      { table: 'actions', key: [third!], kind: 'missing', columns: [] },
      { table: 'actions', key: ['act_invented'], kind: 'unexpected', columns: [] },
    ]);
    expect(differenceCount).toBe(4);
    expect(await readModels.dump('actions')).toEqual(rows);
    expect(await leftBehind()).toEqual([]);
  });

  it.each(['id', 'org', 'kind', 'action', 'agent', 'body_hash', 'prev_hash', 'kid', 'signature'])(
    'names a deed whose %s was changed',
    async (column) => {
      await givenDeeds(3);
      await project('deeds');
      await change(`UPDATE read_models.deeds SET ${column} = 'other' WHERE seq = 2`);
      const { differences } = await verify('deeds');
      const changed = { kind: 'changed', key: [testId('deed', 2)], columns: [column] };
      const moved = [
        { kind: 'missing', key: [testId('deed', 2)] },
        { kind: 'unexpected', key: ['other'] },
      ];
      expect(differences).toMatchObject(column === 'id' ? moved : [changed]);
    },
  );

  it('counts every difference, and names the first hundred', async () => {
    await givenDeeds(250);
    await project('deeds');
    await change(`UPDATE read_models.deeds SET kid = 'other'`);
    const { differences, differenceCount } = await verify('deeds');
    expect([differences.length, differenceCount]).toEqual([100, 250]);
  });

  it('tells how far it is with the log, and then with the rows', async () => {
    for (let number = 1; number <= 3; number += 1) await givenLife(number);
    await project('actions');
    const told: (number | [number, number])[] = [];
    await verify(
      'actions',
      { pageEvents: 10 },
      (events) => told.push(events),
      (rows, ofRows) => told.push([rows, ofRows]),
    );
    // Rows of actions, then those of approvals, of which there are none, and then the two that count all three.
    expect(told).toEqual([6, 12, 19, 19, [3, 5], [3, 5], [4, 5], [5, 5]]);
  });

  it('may be one that was never begun', async () => {
    await change('TRUNCATE read_models.actions, read_models.hourly_counts, read_models.hourly_totals');
    await givenLife(1);
    expect(await verify('actions')).toMatchObject({ position: -1n, events: 0, rows: 0, differenceCount: 0 });
  });
});

describe('a projection that is behind the log', () => {
  it('is compared with what it was told, and nothing beyond it', async () => {
    await givenLife(1);
    await project('actions');
    const position = await log.store.head();
    await givenLife(2);
    const rest = Number((await log.store.head()) - position);
    for (const pageEvents of [4_000, 4, 1]) {
      const verified = await verify('actions', { pageEvents });
      expect(verified).toMatchObject({ position, events: Number(position) + 1, rows: 3, differenceCount: 0 });
    }
    expect(rest).toBeGreaterThan(4);
  });

  it('is compared though it stops before an event that nobody can read', async () => {
    await givenLife(1);
    await project('actions');
    await log.append(`action-${testId('act', 2)}`, { type: 'ActionForgotten', data: {} });
    expect(await verify('actions')).toMatchObject({ rows: 3, differenceCount: 0 });
  });

  it('and lost rows that it was told of is found out', async () => {
    await givenDeeds(2);
    await project('deeds');
    await change(`UPDATE read_models.projection_checkpoints SET position = position + 1 WHERE name = 'deeds'`);
    await log.append(`ledger-${TEST_ORG}`, sealed(3));
    expect((await verify('deeds')).differences).toMatchObject([{ kind: 'missing', key: [testId('deed', 3)] }]);
  });
});

describe('while the projection goes on', () => {
  it('no row that is newer is a difference, and the projection waits for nothing', async () => {
    for (let number = 1; number <= 100; number += 1) await givenLife(number);
    const runner = new ProjectionRunner(projectionOf('actions'), {
      store: log.store,
      database: readModels.projections,
      local: new LocalProjections(),
      bus: silentBus,
      log: silentLogger,
    });
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    const count = () => readModels.source.manager.countBy(ActionRow, {});
    await vi.waitFor(async () => expect(await count()).toBe(100), { timeout: 10_000, interval: 10 });
    let isVerifying = true;
    let written = 100;
    const working = (async () => {
      while (isVerifying) {
        await givenLife((written += 1));
        await count();
      }
    })();
    const verified: Verified[] = [];
    // Until rows came in between: how soon the projection has its turn is for the machine to say.
    while (verified.length < 5 || verified.at(-1)!.rows === verified[0]!.rows) {
      verified.push(await verify('actions', { pageEvents: 50 }));
    }
    isVerifying = false;
    await working;
    stopping.abort();
    await running;
    expect(verified.flatMap(({ differences }) => differences)).toEqual([]);
    expect(verified.at(-1)!.rows).toBeGreaterThan(100);
  });

  it('its batches are written beside the comparison, and are not seen there', async () => {
    await givenDeeds(1);
    await project('deeds');
    let written = 1;
    const positions = [await log.store.head()];
    // Once while the log is folded, and once more when what came then is caught up with, where the rows are seen already.
    const writing: Projection = {
      ...projectionOf('deeds'),
      project: async (events, rows) => {
        await projectionOf('deeds').project(events, rows);
        await log.append(`ledger-${TEST_ORG}`, sealed((written += 1)));
        await project('deeds');
        positions.push(await log.store.head());
      },
    };
    const verified = await verify(writing);
    expect(positions).toHaveLength(3);
    expect(verified).toMatchObject({ position: positions[1], rows: 2, differenceCount: 0 });
    expect(await readModels.dump('deeds')).toHaveLength(3);
  });

  it('nobody empties or exchanges its tables once they are seen', async () => {
    await givenDeeds(1);
    await project('deeds');
    const other = readModels.source.createQueryRunner();
    await other.query(`SET lock_timeout = '50ms'`);
    const refusals: string[] = [];
    let folded = 0;
    const emptying: Projection = {
      ...projectionOf('deeds'),
      project: async (events, rows) => {
        await projectionOf('deeds').project(events, rows);
        folded += 1;
        if (folded === 1) {
          await log.append(`ledger-${TEST_ORG}`, sealed(2));
          await project('deeds');
        } else {
          await other.query('TRUNCATE read_models.deeds').catch((error: unknown) => refusals.push(String(error)));
        }
      },
    };
    expect(await verify(emptying)).toMatchObject({ rows: 2, differenceCount: 0 });
    await other.query('RESET lock_timeout');
    await other.release();
    expect(refusals).toEqual([expect.stringContaining('lock timeout')]);
  });
});

describe('a verification that cannot be', () => {
  it('says so at an event that it must not guess about, and leaves nothing behind', async () => {
    await givenLife(1);
    await project('actions');
    const head = await log.store.head();
    await log.append(`action-${testId('act', 2)}`, { type: 'ActionForgotten', data: {} });
    // As if an older version had known it.
    await change(`UPDATE read_models.projection_checkpoints SET position = $1`, String(head + 1n));
    await expect(verify('actions')).rejects.toThrow(UnreadableEvent);
    expect(await leftBehind()).toEqual([]);
  });

  it.each([4_000, 3, 1])(
    'names the hole that the log has among what the rows tell, %i events a page',
    async (pageEvents) => {
      await givenLife(1);
      await givenLife(2);
      await project('actions');
      const { store } = log;
      const told = await store.head();
      await givenLife(3);
      const head = await store.head();
      for (let missing = 0n; missing < head; missing += 1n) {
        withoutEventAt(store, missing);
        const outcome = await verify('actions', { pageEvents }).catch((error: unknown) => error);
        vi.restoreAllMocks();
        if (missing <= told) expect(outcome).toBeInstanceOf(LogHasHole);
        expect(outcome).toMatchObject(missing <= told ? { missing } : { position: told, differenceCount: 0 });
        expect(await leftBehind()).toEqual([]);
      }
    },
  );

  it('is refused where the rows are of another version of the program', async () => {
    await givenLife(1);
    await project('actions');
    const { version } = projectionOf('actions');
    await expect(verify({ ...projectionOf('actions'), version: version + 1 })).rejects.toThrow(OtherIdentity);
  });

  it('is given up where the rows are begun anew meanwhile', async () => {
    await givenLife(1);
    await project('actions');
    const forgetting = readModels.source.createQueryRunner();
    const begunAnew: Projection = {
      ...projectionOf('actions'),
      project: async (events, rows) => {
        await projectionOf('actions').project(events, rows);
        await forgetting.query(`DELETE FROM read_models.projection_checkpoints WHERE name = 'actions'`);
      },
    };
    await expect(verify(begunAnew)).rejects.toThrow(RowsBegunAnew);
    await forgetting.release();
    expect(await leftBehind()).toEqual([]);
  });

  it('leaves nothing behind when it is interrupted while it folds', async () => {
    await givenLife(1);
    await givenLife(2);
    await project('actions');
    const interrupting = new AbortController();
    const why = new Error('interrupted');
    const told: number[] = [];
    const verifying = verify('actions', { pageEvents: 2, interrupted: interrupting.signal }, (events) => {
      told.push(events);
      interrupting.abort(why);
    });
    await expect(verifying).rejects.toBe(why);
    expect(told).toEqual([6]);
    expect(await leftBehind()).toEqual([]);
    expect(await readModels.dump('actions')).toHaveLength(2);
  });

  it('leaves nothing behind when it is interrupted while it compares', async () => {
    await givenDeeds(2_500);
    await project('deeds');
    const interrupting = new AbortController();
    const why = new Error('interrupted');
    const told: number[] = [];
    const verifying = verify('deeds', { interrupted: interrupting.signal }, undefined, (rows) => {
      told.push(rows);
      interrupting.abort(why);
    });
    await expect(verifying).rejects.toBe(why);
    expect(told).toEqual([2_000]);
    expect(await leftBehind()).toEqual([]);
    expect(await readModels.dump('deeds')).toHaveLength(2_500);
  });
});
