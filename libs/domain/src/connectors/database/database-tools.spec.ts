import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import type { SideEffect, ToolDescription } from '../connector-driver.port.js';
import { readDatabaseConfig } from './database-config.reader.js';
import { databaseToolsOf, describeDatabaseTools } from './database-tools.js';

const NAMED = [
  { name: 'get_order', description: 'Reads an order.', sql: 'SELECT', args: [{ name: 'id', type: 'bigint' }] },
  { name: 'refund', title: 'refund an order', description: 'Refunds.', sql: 'UPDATE' },
  { name: 'forget', description: 'Forgets.', sql: 'DELETE' },
];
const CONFIG: JsonObject = { host: 'db.example.com', database: 'shop', tools: NAMED };
const EFFECTS: Readonly<Record<string, SideEffect>> = { SELECT: 'read', UPDATE: 'write', DELETE: 'destructive' };

const described = (changes: JsonObject = {}): readonly ToolDescription[] =>
  describeDatabaseTools(readDatabaseConfig({ ...CONFIG, ...changes }, { isProduction: false }), (sql) =>
    sql in EFFECTS ? (EFFECTS[sql] as SideEffect) : 'unknown',
  );
const named = (name: string, changes: JsonObject = {}): ToolDescription =>
  described(changes).find((tool) => tool.name === name) as ToolDescription;

describe('tools of a database', () => {
  it('are query, execute and those of the config, each with the side effect of its statement', () =>
    expect(described().map(({ name, sideEffect, isRepeatable }) => [name, sideEffect, isRepeatable])).toEqual([
      ['query', 'read', true],
      ['execute', 'write', false],
      ['get_order', 'read', true],
      ['refund', 'write', false],
      ['forget', 'destructive', false],
    ]));

  it('of execute alone single calls may be graver than the tool', () =>
    expect(described().filter(({ callsMayBe }) => callsMayBe !== undefined)).toMatchObject([
      { name: 'execute', callsMayBe: ['destructive'] },
    ]));

  it('say which database they are of, and whose tables need no schema', () => {
    expect(named('query', { schemas: ['sales', 'stock', 'crm'] }).description).toMatch(
      / The database is shop \(PostgreSQL\); a table without a schema is one of sales\. Tables of stock, crm are named with their schema\.$/,
    );
  });

  it('what a named tool does is unknown without a grammar', () => {
    const tools = databaseToolsOf(readDatabaseConfig(CONFIG, { isProduction: false }));
    expect(tools.map(({ sideEffect }) => sideEffect)).toEqual(['read', 'write', 'unknown', 'unknown', 'unknown']);
  });

  it('a write is witnessed where the witness is on; a read never is', () => {
    const witnessed = described({ witness: { enabled: true, timeout_ms: 700 } });
    expect(witnessed.map(({ name, changeLog }) => [name, changeLog?.timeoutMs])).toEqual([
      ['query', undefined],
      ['execute', 700],
      ['get_order', undefined],
      ['refund', 700],
      ['forget', 700],
    ]);
    expect(described().every((tool) => !('changeLog' in tool))).toBe(true);
  });

  it('take as long as a statement may, and what is done around it', () =>
    expect(described({ statement_timeout_ms: 500 }).map(({ timeoutMs }) => timeoutMs)).toEqual(Array(5).fill(10_500)));

  it('say what they take', () =>
    expect(named('get_order').inputSchema).toMatchObject({
      properties: { id: { type: 'string' } },
      required: ['id'],
      additionalProperties: false,
    }));

  it('have digests of their own', () =>
    expect(new Set(described().map(({ digest }) => digest)).size).toBe(described().length));

  it.each<[string, JsonObject]>([
    ['where it goes', { port: 5_433 }],
    ['how it is secured', { ssl: 'require' }],
    ['what unqualified names mean', { schemas: ['sales'] }],
    ['how much it may change', { max_rows_changed: 5 }],
    ['what it may call', { allowed_functions: ['f'] }],
    ['how it is confirmed', { witness: { enabled: true } }],
    ['its statement', { tools: NAMED.map((tool) => ({ ...tool, sql: 'DELETE' })) }],
  ])('the digest changes with %s', (_what, changes) => {
    expect(named('refund', changes).digest).not.toBe(named('refund').digest);
  });

  it('the digest does not change with other tools, nor with what is reported of others', () => {
    const witness = { enabled: true };
    expect(named('refund', { tools: NAMED.slice(1) }).digest).toBe(named('refund').digest);
    expect(named('query', { tools: [] }).digest).toBe(named('query').digest);
    expect(named('refund', { witness, watch_bypass: true }).digest).toBe(named('refund', { witness }).digest);
  });
});
