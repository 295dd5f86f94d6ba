import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ActionRow, PROJECTION_NAMES, storedText } from '#libs/infra/read-models';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArbitraryStream } from '../../../test/support/arbitrary-events.js';
import { anyText, arbitraryLog } from '../../../test/support/arbitrary-log.js';
import { followLog } from '../../../test/support/follow-log.js';
import { GivenLog, started, testId } from '../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../test/support/read-models.js';
import { PROJECTIONS } from './projections.js';

const EVERY_TABLE = PROJECTIONS.flatMap(({ rowTypes }) => rowTypes);
/** Thousands of small transactions, on a machine that may be busy. */
const PROPERTY_TIMEOUT_MS = 180_000;
const VECTORS = process.env['VECTORS_DIR'];

describe('projections', () => {
  let readModels: TestReadModels;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());

  const storeOf = async (appends: readonly ArbitraryStream[]): Promise<MemoryEventStore> => {
    const log = new GivenLog(new MemoryEventStore());
    for (const { stream, events } of appends) await log.append(stream, ...events);
    return log.store as MemoryEventStore;
  };
  const rowsAfter = async (store: MemoryEventStore, batchSize: number): Promise<readonly string[]> => {
    await readModels.forgetCheckpoints(...PROJECTION_NAMES);
    for (const projection of PROJECTIONS) await followLog(projection, store, readModels.projections, batchSize);
    return readModels.dump(...EVERY_TABLE);
  };
  const foldsEveryLog = (text: fc.Arbitrary<string>, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(arbitraryLog(text), async (appends) => {
        const store = await storeOf(appends);
        const rows = await rowsAfter(store, 500);
        expect(await rowsAfter(store, 1)).toEqual(rows);
        expect(await rowsAfter(store, 7)).toEqual(rows);
      }),
      { numRuns },
    );

  it('have the names that those who wait for them use', () => {
    expect(PROJECTIONS.map(({ name }) => name)).toEqual(PROJECTION_NAMES);
  });

  it('write no table twice', () => {
    const rowTypes = PROJECTIONS.flatMap((projection) => projection.rowTypes);
    expect(new Set(rowTypes).size).toBe(rowTypes.length);
  });

  it(
    'fold every event that the types allow, to the same rows in batches of 1, 7 and 500 and from the start again',
    async () => {
      await foldsEveryLog(anyText, 15);
    },
    PROPERTY_TIMEOUT_MS,
  );

  describe.skipIf(VECTORS === undefined)('with the big list of naughty strings (set VECTORS_DIR to run)', () => {
    const strings = VECTORS
      ? (JSON.parse(readFileSync(join(VECTORS, 'blns', 'blns.json'), 'utf8')) as readonly string[])
      : [''];

    it(
      'fold every event that the types allow',
      async () => {
        await foldsEveryLog(fc.constantFrom(...strings), 8);
      },
      PROPERTY_TIMEOUT_MS,
    );

    it('keep every string', async () => {
      const store = await storeOf(
        strings.map((text, index) => ({
          stream: `action-${testId('act', index)}`,
          events: started(index, { tool: text, on_behalf_of: text, agent_name: text }),
        })),
      );
      await rowsAfter(store, 100);
      const rows = await readModels.source.manager.find(ActionRow, { order: { id: 'ASC' } });
      expect(rows.map(({ tool }) => tool)).toEqual(strings.map(storedText));
      expect(rows.map(({ folded }) => folded.submission.agent_name)).toEqual(strings);
    });
  });
});
