import type { ConnectorStatus, ConnectorType, ListedConnector } from '#libs/domain/connectors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_ORG, testId } from '../../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../../test/support/read-models.js';
import { ConnectorReads } from '../index.js';

let readModels: TestReadModels;
let numbers = 0;

beforeAll(async () => {
  readModels = await createTestReadModels();
});
afterAll(() => readModels?.drop());

const listed = async (count: number, type: ConnectorType, status: ConnectorStatus = 'active') => {
  const made = Array.from({ length: count }, () => (numbers += 1));
  await readModels.source.query(
    `INSERT INTO read_models.connectors (id, org, name, type, status, created_at, folded)
       SELECT id, $2, name, $4, $5, now(), '{}' FROM unnest($1::text[], $3::text[]) AS made (id, name)`,
    [made.map((number) => testId('con', number)), TEST_ORG, made.map((number) => `c${number}`), type, status],
  );
  return made.map((number) => ({ org: TEST_ORG, name: `c${number}` }));
};
const pages = async (...types: readonly ConnectorType[]) => {
  const found: (readonly ListedConnector[])[] = [];
  for await (const page of new ConnectorReads(readModels.source).active(types)) found.push(page);
  return found;
};

describe('the connectors of all organizations', () => {
  it('are those of the asked types that are active, each once, in pages', async () => {
    const served = await listed(450, 'mcp_http');
    await listed(2, 'mcp_http', 'disabled');
    const rest = await listed(1, 'rest');
    const found = await pages('mcp_http');
    expect(found.map((page) => page.length)).toEqual([200, 200, 50]);
    expect(found.flat()).toEqual(served);
    expect((await pages('mcp_http', 'rest')).flat()).toEqual([...served, ...rest]);
    expect(await pages('mail')).toEqual([]);
    expect(await pages()).toEqual([]);
  });
});
