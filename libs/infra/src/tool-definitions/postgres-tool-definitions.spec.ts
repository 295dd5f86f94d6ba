import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { digestOf } from '#libs/crypto';
import {
  type ConnectorEvent,
  connectorStreamId,
  type StoredDefinition,
  ToolDefinitionSweeper,
} from '#libs/domain/connectors';
import { FoldedStreams } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { GivenLog, TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { PostgresToolDefinitions } from './index.js';

let database: TestDatabase;
let pool: pg.Pool;
let definitions: PostgresToolDefinitions;
let numbers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 4 });
  await installSchemas(pool, ['tool_definitions']);
  definitions = new PostgresToolDefinitions(pool);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const place = () => ({ org: TEST_ORG, name: 'srv', connector: testId('con', (numbers += 1)) });
const definition = (body: string) => ({ digest: digestOf(body), body });
const old = async (connector: string): Promise<void> => {
  await pool.query(
    `update connectors.tool_definitions set written_at = now() - interval '1 day' where connector = $1`,
    [connector],
  );
};
const olderOf = async (connector: string): Promise<readonly string[]> => {
  const found: StoredDefinition[] = [];
  for await (const row of definitions.olderThan(3_600_000)) if (row.connector === connector) found.push(row);
  return found.map(({ digest }) => digest);
};

describe('what servers say of their tools', () => {
  it('is kept by its digest, each connector’s for itself', async () => {
    const [one, other] = [place(), place()];
    const [a, b] = [definition('{"a":"\\u0000"}'), definition('{"b":1}')];
    await definitions.put(one, [a, b]);
    await definitions.put(one, [b, a]);
    await definitions.put(one, []);
    expect(await definitions.get(one.connector, [a.digest, b.digest, digestOf('else')])).toEqual(
      new Map([
        [a.digest, a.body],
        [b.digest, b.body],
      ]),
    );
    expect(await definitions.get(other.connector, [a.digest])).toEqual(new Map());
  });

  it('is as good as lost where it is damaged, and whole once it is written again', async () => {
    const one = place();
    const a = definition('{"damaged":1}');
    await definitions.put(one, [a]);
    await pool.query(`update connectors.tool_definitions set body = '{}' where digest = $1`, [a.digest]);
    expect(await definitions.get(one.connector, [a.digest])).toEqual(new Map());
    await definitions.put(one, [a]);
    expect(await definitions.get(one.connector, [a.digest])).toEqual(new Map([[a.digest, a.body]]));
  });

  it('is found by its age, and removed only where it was not written again meanwhile', async () => {
    const one = place();
    const a = definition('{"aged":1}');
    await definitions.put(one, [a]);
    expect(await olderOf(one.connector)).toEqual([]);
    await old(one.connector);
    expect(await olderOf(one.connector)).toEqual([a.digest]);
    await definitions.put(one, [a]);
    await definitions.removeOlder({ ...one, digest: a.digest }, 3_600_000);
    expect((await definitions.get(one.connector, [a.digest])).size).toBe(1);
    await old(one.connector);
    await definitions.removeOlder({ ...one, digest: a.digest }, 3_600_000);
    expect((await definitions.get(one.connector, [a.digest])).size).toBe(0);
  });

  it('stays while its connector names it, and goes with the connector', async () => {
    const one = place();
    const [named, replaced] = [definition('{"named":1}'), definition('{"replaced":1}')];
    await definitions.put(one, [named, replaced]);
    await old(one.connector);
    const store = new MemoryEventStore();
    const log = new GivenLog(store);
    const about = { ...one, at: testTime(0) };
    const hints = { read_only: false, destructive: true, idempotent: false, open_world: true };
    const digest = digestOf('list');
    const events: ConnectorEvent[] = [
      {
        type: 'ConnectorCreated',
        data: { ...about, type: 'mcp_http', description: null, config: {}, config_hash: digest },
      },
      {
        type: 'ConnectorToolsRecorded',
        data: {
          ...{ ...about, protocol: '2026-07-28', list_digest: digest, accepted: ['a'], left_out: [] },
          tools: [{ name: 'a', definition: named.digest, hints }],
        },
      },
    ];
    const stream = `connector-${connectorStreamId(TEST_ORG, one.name)}`;
    const sweep = async () => {
      await new ToolDefinitionSweeper(new FoldedStreams(store), definitions).sweep();
      return [...(await definitions.get(one.connector, [named.digest, replaced.digest])).keys()];
    };
    // A store that does not know the organization is another one.
    expect(await sweep()).toHaveLength(2);
    const owner = { owner: testId('usr', 1), membership: testId('mem', 1) };
    await log.append(`org-${TEST_ORG}`, {
      type: 'OrganizationCreated',
      data: { org: TEST_ORG, name: 'Test', timezone: 'UTC', at: testTime(0), ...owner },
    });
    await log.append(stream, ...events);
    expect(await sweep()).toEqual([named.digest]);
    await log.append(stream, { type: 'ConnectorDeleted', data: { ...about, credential_version: null } });
    expect(await sweep()).toEqual([]);
  });
});
