import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogHasHole, MemoryEventStore } from '#libs/infra/event-store';
import {
  ActionRow,
  LocalProjections,
  OtherIdentity,
  PROJECTION_NAMES,
  ProjectionDatabase,
} from '#libs/infra/read-models';
import { anyText, arbitraryLog } from '../../../../test/support/arbitrary-log.js';
import { followLog } from '../../../../test/support/follow-log.js';
import { finished, GivenLog, started, testId, witnessed } from '../../../../test/support/given-log.js';
import { withoutEventAt } from '../../../../test/support/log-with-hole.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { silentBus } from '../../../../test/support/silent-bus.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { actionsProjection } from '../gate/actions.projection.js';
import { UnreadableEvent, type Projection } from '../projection.js';
import { ProjectionRunner } from '../projection-runner.js';
import { PROJECTIONS } from '../projections.js';
import { ProjectionRebuild } from './projection-rebuild.js';

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

const givenLife = (number: number): Promise<void> =>
  log.append(`action-${testId('act', number)}`, ...started(number), finished(number), witnessed(number));
const projectAll = async (): Promise<void> => {
  for (const each of PROJECTIONS) await followLog(each, log.store, readModels.projections, 500);
};
const rebuild = (projection: Projection, onRebuilding: () => void = () => undefined, pageEvents = 4_000) =>
  new ProjectionRebuild(projection, { store: log.store, source: readModels.source, pageEvents }, onRebuilding).run();

/** Everything about the live tables but their rows. */
const shapeOfTables = () =>
  readModels.source.query<object[]>(
    `SELECT 'index', indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'read_models'
     UNION ALL
     SELECT 'constraint', conname, conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'read_models'::regnamespace
     UNION ALL
     SELECT 'column', table_name || '.' || column_name, ordinal_position || ' ' || data_type || ' ' || is_nullable
      FROM information_schema.columns WHERE table_schema = 'read_models'
     ORDER BY 1, 2`,
  );
const leftBehind = () =>
  readModels.source.query<{ nspname: string }[]>(
    `SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'read_models_rebuild')`,
  );

describe('a projection that is rebuilt', () => {
  it('gives the rows that it had, of every log that the types allow', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog(anyText), async (appends) => {
        log = new GivenLog(new MemoryEventStore());
        for (const { stream, events } of appends) await log.append(stream, ...events);
        await readModels.forgetCheckpoints(...PROJECTION_NAMES);
        await projectAll();
        const rows = await readModels.dump(...EVERY_TABLE);
        for (const pageEvents of [4_000, 7, 1]) {
          for (const each of PROJECTIONS) await rebuild(each, undefined, pageEvents);
          expect(await readModels.dump(...EVERY_TABLE)).toEqual(rows);
        }
      }),
      { numRuns: 10 },
    );
  });

  it('gives them in tables of the same columns, constraints and indexes, and leaves nothing behind', async () => {
    const shape = await shapeOfTables();
    for (const each of PROJECTIONS) await rebuild(each);
    expect(await shapeOfTables()).toEqual(shape);
    expect(await leftBehind()).toEqual([]);
  });

  it('tells the planner of every column that a query may ask about', async () => {
    await givenLife(1);
    await rebuild(actionsProjection);
    const found = await readModels.source.query<{ attname: string }[]>(
      `SELECT attname FROM pg_stats WHERE schemaname = 'read_models' AND tablename = 'actions'`,
    );
    const { columns } = readModels.source.getMetadata(ActionRow);
    const asked = columns.map(({ databaseName }) => databaseName).filter((name) => name !== 'folded');
    expect(found.map(({ attname }) => attname).sort()).toEqual(asked.sort());
  });

  it('heals rows that were changed, removed and invented behind its back', async () => {
    for (let number = 1; number <= 3; number += 1) await givenLife(number);
    await projectAll();
    const rows = await readModels.dump('actions');
    const { source } = readModels;
    await source.query(`UPDATE read_models.actions SET tool = 'other' WHERE id = $1`, [testId('act', 1)]);
    await source.query(`DELETE FROM read_models.actions WHERE id = $1`, [testId('act', 2)]);
    await source.query(`UPDATE read_models.actions SET id = 'act_invented' WHERE id = $1`, [testId('act', 3)]);
    await rebuild(actionsProjection);
    expect(await readModels.dump('actions')).toEqual(rows);
  });

  it('tells how far it is, and what it has read', async () => {
    await givenLife(1);
    await givenLife(2);
    const told: number[] = [];
    const parts = { store: log.store, source: readModels.source };
    const rebuilt = await new ProjectionRebuild(actionsProjection, parts, (events) => told.push(events)).run();
    const head = await log.store.head();
    expect(rebuilt).toEqual({ events: Number(head) + 1, position: head });
    expect(told.at(-1)).toBe(Number(head) + 1);
  });
});

describe('the pages of a rebuild', () => {
  it('are folded while the one before is being written', async () => {
    for (let number = 1; number <= 3; number += 1) await givenLife(number);
    const holder = readModels.source.createQueryRunner();
    let pages = 0;
    const holdingUp: Projection = {
      ...actionsProjection,
      async project(events, rows) {
        await actionsProjection.project(events, rows);
        pages += 1;
        if (pages === 1) {
          const [schema] = await leftBehind();
          await holder.startTransaction();
          await holder.query(`LOCK TABLE ${schema!.nspname}.actions IN SHARE MODE`);
        }
        // The first page waits for this to be written: it is the second that lets it.
        if (pages === 2) await holder.commitTransaction();
      },
    };
    await rebuild(holdingUp, undefined, 6);
    await holder.release();
    expect(await readModels.dump('actions')).toHaveLength(3);
  });

  it('end between two appends, where the rows take the place of the live ones as well', async () => {
    await log.append(`action-${testId('act', 1)}`, ...started(1));
    vi.spyOn(ProjectionDatabase.prototype, 'replace').mockImplementationOnce(async function (
      this: ProjectionDatabase,
      ...given
    ) {
      // The live rows are ahead by one append, and the log by one more, which begins on the same page.
      await log.append(`action-${testId('act', 2)}`, ...started(2));
      await projectAll();
      await log.append(`action-${testId('act', 3)}`, ...started(3));
      await this.replace(...given);
    });
    await rebuild(actionsProjection, undefined, 5);
    const rows = await readModels.source.manager.find(ActionRow, { order: { id: 'ASC' } });
    expect(rows.map(({ id, decision }) => [id, decision])).toEqual([
      [testId('act', 1), 'allow'],
      [testId('act', 2), 'allow'],
    ]);
  });
});

describe('while the projection goes on and lists are read', () => {
  it('no reader fails or sees fewer rows than before, and no event is lost', async () => {
    const runner = new ProjectionRunner(actionsProjection, {
      store: log.store,
      database: readModels.projections,
      local: new LocalProjections(),
      bus: silentBus,
      log: silentLogger,
    });
    for (let number = 1; number <= 200; number += 1) await givenLife(number);
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    const count = () => readModels.source.manager.countBy(ActionRow, {});
    await vi.waitFor(async () => expect(await count()).toBe(200), { timeout: 10_000, interval: 10 });

    let isRebuilding = true;
    let written = 200;
    const counts: number[] = [];
    // Each look at the list is followed by a new action, so that the log grows as fast as the list is read.
    const working = (async () => {
      while (isRebuilding) {
        counts.push(await count());
        await givenLife((written += 1));
      }
    })();
    for (let round = 0; round < 5; round += 1) await rebuild(actionsProjection);
    isRebuilding = false;
    await working;
    await vi.waitFor(async () => expect(await count()).toBe(written), { timeout: 10_000, interval: 10 });
    stopping.abort();
    await running;
    expect(counts).toEqual([...counts].sort((one, other) => one - other));
    const rows = await readModels.dump('actions');
    await readModels.forgetCheckpoints('actions');
    await projectAll();
    expect(rows).toEqual(await readModels.dump('actions'));
  });

  it('waits for a reader that holds the live table, and lets those behind it pass', async () => {
    await givenLife(1);
    const reader = readModels.source.createQueryRunner();
    await reader.startTransaction();
    await reader.query('SELECT count(*) FROM read_models.actions');
    const rebuilding = rebuild(actionsProjection);
    const waiting = () =>
      readModels.source.query<object[]>(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = 'read_models.actions'::regclass AND mode = 'AccessExclusiveLock'`,
      );
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 20_000, interval: 10 });
    // Stands behind it, and is answered when it gives up for this time, which the first reader has no part in.
    expect(await readModels.source.query('SELECT FROM read_models.actions LIMIT 1')).toHaveLength(1);
    await reader.commitTransaction();
    await reader.release();
    await rebuilding;
    expect(await readModels.dump('actions')).toHaveLength(1);
  });
});

describe('a rebuild that cannot be', () => {
  it('leaves the rows as they were at an event that it must not guess about', async () => {
    await givenLife(1);
    await projectAll();
    const rows = await readModels.dump('actions');
    await log.append(`action-${testId('act', 2)}`, { type: 'ActionForgotten', data: {} });
    for (const pageEvents of [4_000, 2]) {
      await expect(rebuild(actionsProjection, undefined, pageEvents)).rejects.toThrow(UnreadableEvent);
      expect(await readModels.dump('actions')).toEqual(rows);
      expect(await leftBehind()).toEqual([]);
    }
  });

  it.each([4_000, 3, 1])(
    'leaves the rows as they were wherever the log has a hole, %i events a page',
    async (pageEvents) => {
      await givenLife(1);
      await givenLife(2);
      await projectAll();
      const rows = await readModels.dump('actions');
      const { store } = log;
      const head = await store.head();
      for (let missing = 0n; missing < head; missing += 1n) {
        withoutEventAt(store, missing);
        const refusal = await rebuild(actionsProjection, undefined, pageEvents).catch((error: unknown) => error);
        vi.restoreAllMocks();
        expect(refusal).toBeInstanceOf(LogHasHole);
        expect(refusal).toMatchObject({ missing });
        expect(await readModels.dump('actions')).toEqual(rows);
        expect(await leftBehind()).toEqual([]);
      }
    },
  );

  it('is none of a log whose positions only rise', async () => {
    await givenLife(1);
    const passedOver = await log.store.head();
    await givenLife(2);
    vi.spyOn(log.store, 'isNext').mockReturnValue(true);
    withoutEventAt(log.store, passedOver);
    await rebuild(actionsProjection);
    vi.restoreAllMocks();
    expect(await readModels.dump('actions')).toHaveLength(2);
  });

  it('of two at once, which no lock can quite exclude, is one of them at most: the rows are whole', async () => {
    for (let number = 1; number <= 300; number += 1) await givenLife(number);
    await projectAll();
    const rows = await readModels.dump('actions');
    const others: Promise<unknown>[] = [];
    const begin = (): void => void (others.length === 0 && others.push(rebuild(actionsProjection)));
    const [first] = await Promise.allSettled([rebuild(actionsProjection, begin)]);
    const both = [first, ...(await Promise.allSettled(others))];
    expect(both).toHaveLength(2);
    const undone = both.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
    expect(undone.length).toBeLessThan(2);
    for (const reason of undone) expect(reason).toMatch(/does not exist/);
    expect(await readModels.dump('actions')).toEqual(rows);
    expect(await leftBehind()).toEqual([]);
  });

  it('is refused where the rows are of another version of the program', async () => {
    await givenLife(1);
    await projectAll();
    const other = { ...actionsProjection, version: actionsProjection.version + 1 };
    await expect(rebuild(other)).rejects.toThrow(OtherIdentity);
    expect(await readModels.dump('actions')).toHaveLength(1);
  });

  it('leaves the rows as they were, and nothing behind, when it is interrupted between two pages', async () => {
    await givenLife(1);
    await givenLife(2);
    await projectAll();
    const rows = await readModels.dump('actions');
    const interrupting = new AbortController();
    const why = new Error('interrupted');
    const parts = { store: log.store, source: readModels.source, pageEvents: 2, interrupted: interrupting.signal };
    const told: number[] = [];
    const rebuilding = new ProjectionRebuild(actionsProjection, parts, (events) => {
      told.push(events);
      interrupting.abort(why);
    }).run();
    await expect(rebuilding).rejects.toBe(why);
    expect(told).toEqual([6]);
    expect(await readModels.dump('actions')).toEqual(rows);
    expect(await leftBehind()).toEqual([]);
  });

  it('begins anew where an earlier one was interrupted', async () => {
    await givenLife(1);
    await readModels.source.query('CREATE SCHEMA read_models_rebuild_interrupted');
    await readModels.source.query('CREATE TABLE read_models_rebuild_interrupted.actions (leftover text)');
    await rebuild(actionsProjection);
    expect(await leftBehind()).toEqual([]);
    expect(await readModels.dump('actions')).toHaveLength(1);
  });
});
