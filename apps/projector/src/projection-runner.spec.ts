import { getEventListeners } from 'node:events';
import type { ActionEvent } from '#libs/domain/gate';
import { EVENT_SCHEMA_VERSION, type EventStore, type Logger, StoreUnavailable } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ActionRow, LocalProjections, ProjectionDatabase } from '#libs/infra/read-models';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { finished, GivenLog, sealed, started, TEST_ORG, testId, witnessed } from '../../../test/support/given-log.js';
import { createTestReadModels, openReadModels, type TestReadModels } from '../../../test/support/read-models.js';
import { silentBus } from '../../../test/support/silent-bus.js';
import { actionsProjection } from './gate/actions.projection.js';
import { ProjectionRunner } from './projection-runner.js';
import { PROJECTION_DEFAULTS, type ProjectionSettings } from './projection.settings.js';
import type { Projection } from './projection.js';

const FAST: ProjectionSettings = {
  ...PROJECTION_DEFAULTS,
  lingerMs: 0,
  saveIntervalMs: 5,
  settledAfterMs: 20,
  firstRetryMs: 5,
  longestRetryMs: 40,
};

class RecordingLogger implements Logger {
  readonly lines: { level: string; message: string; attributes: Readonly<Record<string, unknown>> }[] = [];
  private write(level: string) {
    return (message: string, attributes = {}) => void this.lines.push({ level, message, attributes });
  }
  readonly debug = this.write('debug');
  readonly info = this.write('info');
  readonly warn = this.write('warn');
  readonly error = this.write('error');
  ofLevel(level: string) {
    return this.lines.filter((line) => line.level === level);
  }
}

describe('projection runner', () => {
  let readModels: TestReadModels;
  let store: MemoryEventStore;
  let log: GivenLog;
  let lines: RecordingLogger;
  let toClose: (() => Promise<unknown>)[];

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(async () => {
    // Or what a test waits for might be there from the one before.
    await readModels.source.query('TRUNCATE read_models.actions');
    store = new MemoryEventStore();
    // Its first event, minted before positions are compared.
    await store.storeId();
    log = new GivenLog(store);
    lines = new RecordingLogger();
    toClose = [];
  });
  afterEach(async () => {
    for (const close of toClose.reverse()) await close();
  });

  /** A runner that has the lease, as far as it knows. */
  const startRunner = (
    options: {
      projection?: Projection;
      settings?: Partial<ProjectionSettings>;
      source?: DataSource;
      store?: EventStore;
    } = {},
  ) => {
    const local = new LocalProjections();
    const runner = new ProjectionRunner(
      options.projection ?? actionsProjection,
      {
        store: options.store ?? store,
        database: new ProjectionDatabase(options.source ?? readModels.source),
        local,
        bus: silentBus,
        log: lines,
      },
      { ...FAST, ...options.settings },
    );
    const held = new AbortController();
    const running = runner.run(held.signal);
    const stop = async () => {
      held.abort();
      await running;
    };
    toClose.push(stop);
    return { runner, local, stop, signal: held.signal };
  };

  const givenLife = async (number: number) => {
    await log.append(`action-${testId('act', number)}`, ...started(number), finished(number), witnessed(number));
    await log.append(`ledger-${TEST_ORG}`, sealed(number));
  };
  const states = async () => {
    const rows = await readModels.source.manager.find(ActionRow, { order: { id: 'ASC' } });
    return rows.map(({ state }) => state);
  };
  const standings = async () => {
    const rows = await readModels.source.manager.find(ActionRow, { order: { id: 'ASC' } });
    return rows.map(({ state, decision, verdict }) => `${state} ${decision} ${verdict}`);
  };
  const checkpoint = async () => {
    const [row] = await readModels.source.query<[{ position: string }?]>(
      `SELECT position FROM read_models.projection_checkpoints WHERE name = 'actions'`,
    );
    return row?.position ?? null;
  };
  const eventually = (assertion: () => Promise<void> | void) => vi.waitFor(assertion, { timeout: 10_000, interval: 5 });

  it('projects what is in the log and what comes after', async () => {
    await givenLife(1);
    startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await givenLife(2);
    await eventually(async () => expect(await states()).toEqual(['sealed', 'sealed']));
  });

  it('moves the checkpoint over events of other contexts', async () => {
    await log.append('user-usr_1', { type: 'PersonCreated', data: {} }, { type: 'PersonRenamed', data: {} });
    startRunner();
    const head = (await store.head()).toString();
    await eventually(async () => expect(await checkpoint()).toBe(head));
  });

  it('resumes from its checkpoint after a restart, with the rows of before', async () => {
    await givenLife(1);
    const first = startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await first.stop();
    await givenLife(2);
    const reads = vi.spyOn(store, 'readAll');
    startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed', 'sealed']));
    expect(reads.mock.calls[0]?.[0]).toBeGreaterThan(0n);
    expect(lines.ofLevel('warn').filter(({ message }) => message.includes('rebuilt'))).toHaveLength(1);
  });

  it('warns of nothing when it begins where no checkpoint ever was', async () => {
    await readModels.forgetCheckpoints('actions');
    await givenLife(1);
    startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    expect(lines.lines).toEqual([
      { level: 'debug', message: 'projection begins at the start of the log', attributes: { projection: 'actions' } },
    ]);
  });

  it('throws the rows away and begins anew under another store, and says so', async () => {
    await givenLife(1);
    const first = startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await first.stop();
    startRunner({ store: new MemoryEventStore() });
    await eventually(async () => expect(await states()).toEqual([]));
    expect(lines.ofLevel('warn').at(-1)).toMatchObject({
      attributes: { projection: 'actions', reason: 'other_store' },
    });
  });

  it('begins anew where its checkpoint is beyond the end of the log, whose events were lost', async () => {
    await givenLife(1);
    const first = startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await first.stop();
    await readModels.source.query(`UPDATE read_models.projection_checkpoints SET position = 1000`);
    await readModels.source.query(`UPDATE read_models.actions SET id = 'act_lost'`);
    startRunner();
    const ids = () => readModels.source.query<{ id: string }[]>(`SELECT id FROM read_models.actions`);
    await eventually(async () => expect(await ids()).toEqual([{ id: testId('act', 1) }]));
    expect(lines.ofLevel('warn').at(-1)).toMatchObject({ attributes: { reason: 'beyond_log' } });
  });

  it('makes the rows anew when the version of its fold was raised', async () => {
    await givenLife(1);
    const first = startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await first.stop();
    await readModels.source.query(`UPDATE read_models.actions SET state = 'of an older fold'`);
    startRunner({ projection: { ...actionsProjection, version: actionsProjection.version + 1 } });
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    expect(lines.ofLevel('warn').at(-1)).toMatchObject({ attributes: { reason: 'other_version' } });
  });

  it('leaves rows of a newer version of its fold alone, and says so until that version comes', async () => {
    await givenLife(1);
    const newer = startRunner({ projection: { ...actionsProjection, version: actionsProjection.version + 1 } });
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await newer.stop();
    await readModels.source.query(`UPDATE read_models.actions SET state = 'of a newer fold'`);
    const older = startRunner();
    await eventually(() => expect(lines.ofLevel('error').length).toBeGreaterThan(1));
    expect(lines.ofLevel('error').at(-1)).toMatchObject({
      message: 'projection stopped',
      attributes: { failure: expect.stringContaining('RowsOfNewerVersion') },
    });
    await givenLife(2);
    const told = lines.ofLevel('error').length;
    await eventually(() => expect(lines.ofLevel('error').length).toBeGreaterThan(told));
    expect(await states()).toEqual(['of a newer fold']);
    await older.stop();
    startRunner({ projection: { ...actionsProjection, version: actionsProjection.version + 1 } });
    await eventually(async () => expect(await states()).toEqual(['of a newer fold', 'sealed']));
  });

  it('rebuilds while it runs when an operator asks', async () => {
    await givenLife(1);
    startRunner();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    await readModels.source.query(`UPDATE read_models.actions SET state = 'damaged'`);
    await readModels.forgetCheckpoints('actions');
    await givenLife(2);
    await eventually(async () => expect(await states()).toEqual(['sealed', 'sealed']));
  });

  it('leaves neither rows nor checkpoint when it dies between them', async () => {
    await givenLife(1);
    let kills = 0;
    const source = await openReadModels(readModels.connectionString);
    toClose.push(() => source.destroy());
    const dying: Projection = {
      ...actionsProjection,
      async project(events, rows) {
        await actionsProjection.project(events, rows);
        if (kills === 3) return;
        kills += 1;
        expect(await states()).toEqual([]);
        await readModels.source.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'idle in transaction'`,
        );
      },
    };
    // Only its own position of the start remains from the attempts that were killed.
    startRunner({ projection: dying, source });
    await eventually(() => expect(kills).toBe(3));
    await eventually(async () => expect(await states()).toEqual(['sealed']));
    expect(await checkpoint()).toBe((await store.head()).toString());
    expect(lines.ofLevel('error')).toHaveLength(3);
  });

  it.each([
    ['an unknown type', 'unknown_type', { type: 'ActionTeleported' }],
    ['a newer schema', 'newer_schema', { metadata: `{"schema":${EVENT_SCHEMA_VERSION + 1}}` }],
    ['data that is no JSON', 'corrupt', { data: '{"action":' }],
  ])(
    'stops before an event of %s, says which at each retry, and projects what stands before it',
    async (_, reason, changes) => {
      await givenLife(1);
      const stream = `action-${testId('act', 2)}`;
      const id = '01234567-89ab-8def-8123-456789abcdef';
      const event = { id, type: 'ActionSubmitted', data: '{}', metadata: '{"schema":1}', ...changes };
      await store.append({ stream, expectedRevision: 'no_stream', events: [event] });
      await givenLife(3);
      const { runner } = startRunner();
      await eventually(() => expect(lines.ofLevel('error').length).toBeGreaterThan(3));
      expect(lines.ofLevel('error').at(-1)).toMatchObject({
        message: 'projection stopped',
        attributes: {
          projection: 'actions',
          failure: expect.stringContaining(reason),
          stream,
          revision: 0,
          event_type: event.type,
          event_id: id,
          retry_in_ms: FAST.longestRetryMs,
        },
      });
      expect(runner.status.failure).toContain(reason);
      expect(await states()).toEqual(['sealed']);
    },
  );

  it.each([1, 2, 3, 5, 1_000])(
    'writes no row that stands between two events of one append, %d events a batch',
    async (batchSize) => {
      const shown: (readonly string[])[] = [];
      const looking: Projection = {
        ...actionsProjection,
        async project(events, rows) {
          await actionsProjection.project(events, rows);
          // As committed before this batch.
          shown.push(await standings());
        },
      };
      for (let number = 1; number <= 4; number += 1) {
        const stream = `action-${testId('act', number)}`;
        await log.append(stream, ...started(number));
        await log.append(stream, finished(number), witnessed(number));
      }
      startRunner({ projection: looking, settings: { batchSize } });
      await eventually(async () => expect(await standings()).toEqual(Array(4).fill('recorded allow VERIFIED')));
      const lawful = ['executing allow null', 'recorded allow VERIFIED'];
      expect(shown.flat().filter((standing) => !lawful.includes(standing))).toEqual([]);
      if (batchSize < 4) expect(new Set(shown.flat())).toEqual(new Set(lawful));
    },
  );

  it('stops before the whole append of an event that it cannot read', async () => {
    await givenLife(1);
    const [submitted, decided] = started(2);
    const { type } = decided as ActionEvent;
    await log.append(`action-${testId('act', 2)}`, submitted as ActionEvent, { type: `${type}Anew`, data: {} });
    const head = await store.head();
    const { runner } = startRunner();
    await eventually(() => expect(runner.status.failure).toContain('at revision 1 an event that cannot be read'));
    expect(await states()).toEqual(['sealed']);
    expect(await checkpoint()).toBe((head - 2n).toString());
  });

  it('does no harm when several project at once', async () => {
    for (let number = 1; number <= 3; number += 1) startRunner({ settings: { batchSize: 3 } });
    for (let number = 1; number <= 40; number += 1) await givenLife(number);
    await eventually(async () => expect(await states()).toEqual(Array(40).fill('sealed')));
    const rows = await readModels.source.manager.find(ActionRow);
    expect(new Set(rows.map(({ folded }) => folded.revision))).toEqual(new Set([5]));
    expect(lines.ofLevel('error')).toEqual([]);
  });

  it('is well again once it has run for a while', async () => {
    let failures = 2;
    const ailing: Projection = {
      ...actionsProjection,
      async project(events, rows) {
        failures -= 1;
        if (failures >= 0) throw new Error('not yet');
        await actionsProjection.project(events, rows);
      },
    };
    await givenLife(1);
    const { runner } = startRunner({ projection: ailing });
    await eventually(() => expect(runner.status.failure).toBe('Error: not yet'));
    await eventually(() => expect(runner.status).toEqual({ name: 'actions', isActive: true, failure: null }));
    expect(await states()).toEqual(['sealed']);
  });

  it('says once that a store is away, however often it looks', async () => {
    await givenLife(1);
    const looks = vi.spyOn(store, 'head').mockRejectedValue(new StoreUnavailable('no answer'));
    const { runner } = startRunner({ settings: { longestRetryMs: 5 } });
    await eventually(() => expect(looks.mock.calls.length).toBeGreaterThan(5));
    expect(runner.status.failure).toBe('StoreUnavailable: no answer');
    expect(lines.ofLevel('error')).toMatchObject([{ message: 'projection waits for its stores' }]);
    looks.mockRestore();
    await eventually(async () => expect(await states()).toEqual(['sealed']));
  });

  it('leaves nothing behind at each of many failures', async () => {
    const ailing: Projection = { ...actionsProjection, project: () => Promise.reject(new Error('never')) };
    await givenLife(1);
    const { signal } = startRunner({ projection: ailing, settings: { settledAfterMs: 5, longestRetryMs: 10 } });
    await eventually(() => expect(lines.ofLevel('error').length).toBeGreaterThan(12));
    expect(getEventListeners(signal, 'abort').length).toBeLessThan(5);
  });

  it('tells who waits when a position is reached, at once when hurried', async () => {
    const { local } = startRunner({ settings: { lingerMs: 60_000 } });
    await eventually(() => expect(local.find('actions')).not.toBeNull());
    const projection = local.find('actions')!;
    await givenLife(1);
    const head = await store.head();
    const reached = projection.waitFor(head, 10_000);
    projection.hurry();
    expect(await reached).toBe(true);
    expect(projection.position).toBe(head);
    expect(await states()).toEqual(['sealed']);
  });

  it('tells who waits in vain when the time is over, and when it ends', async () => {
    const { local, stop } = startRunner();
    await eventually(() => expect(local.find('actions')).not.toBeNull());
    const projection = local.find('actions')!;
    expect(await projection.waitFor(1_000n, 1)).toBe(false);
    const waiting = projection.waitFor(1_000n, 60_000);
    await stop();
    expect(await waiting).toBe(false);
  });

  it('leaves the checkpoint where the rows are when it stops', async () => {
    await givenLife(1);
    const { stop, local } = startRunner({ settings: { saveIntervalMs: 60_000 } });
    await log.append('user-usr_1', { type: 'PersonCreated', data: {} });
    const head = await store.head();
    await eventually(async () => expect(await local.find('actions')?.waitFor(head, 1_000)).toBe(true));
    await stop();
    expect(await checkpoint()).toBe(head.toString());
  });
});
