import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PolicyRow, ReplacementTables } from '#libs/infra/read-models';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { LateRows } from './late-rows.js';

const policy = (number: number, name = `policy ${number}`): PolicyRow => ({
  id: testId('pol', number),
  org: TEST_ORG,
  name,
  createdAt: testTime(number),
  latestVersionId: null,
});

describe('late rows', () => {
  let readModels: TestReadModels;
  let tables: ReplacementTables;
  let rows: LateRows;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(async () => {
    tables = new ReplacementTables(readModels.source, [PolicyRow]);
    await tables.create();
    rows = new LateRows(tables);
  });
  afterEach(async () => {
    await rows.arrived();
    await tables.drop();
  });

  const found = async (): Promise<readonly string[]> => {
    const ids = [1, 2, 3, 4].map((number) => testId('pol', number));
    return (await rows.select(PolicyRow, ids)).map(({ name }) => name).sort();
  };

  it('are found before they are sent, on their way and once they have arrived', async () => {
    await rows.upsert(PolicyRow, [policy(1), policy(2)]);
    expect(await found()).toEqual(['policy 1', 'policy 2']);
    await rows.send();
    expect(await found()).toEqual(['policy 1', 'policy 2']);
    await rows.arrived();
    expect(await found()).toEqual(['policy 1', 'policy 2']);
    await rows.send();
    expect(await found()).toEqual(['policy 1', 'policy 2']);
  });

  it('are found as they were changed last', async () => {
    await rows.upsert(PolicyRow, [policy(1, 'arrived'), policy(2, 'arrived')]);
    await rows.send();
    await rows.arrived();
    await rows.upsert(PolicyRow, [policy(1, 'on its way')]);
    await rows.send();
    await rows.upsert(PolicyRow, [policy(3, 'not sent')]);
    expect(await found()).toEqual(['arrived', 'not sent', 'on its way']);
    await rows.upsert(PolicyRow, [policy(1, 'changed twice')]);
    expect(await found()).toEqual(['arrived', 'changed twice', 'not sent']);
  });

  it('are gone as soon as they are removed, though the tables hold them still', async () => {
    await rows.upsert(PolicyRow, [policy(1), policy(2)]);
    await rows.send();
    await rows.arrived();
    await rows.remove(PolicyRow, [policy(1).id]);
    expect(await found()).toEqual(['policy 2']);
    await rows.send();
    await rows.arrived();
    expect(await found()).toEqual(['policy 2']);
  });

  it('that cannot be written fail whoever waits for them, and whoever sends more', async () => {
    await rows.upsert(PolicyRow, [{ ...policy(1), createdAt: 'no time' }]);
    await rows.send();
    await expect(rows.send()).rejects.toThrow('timestamp');
    await expect(rows.arrived()).rejects.toThrow('timestamp');
    rows = new LateRows(tables);
  });
});
