import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installSchemas, startedSchemas } from '#libs/infra/schemas';
import { createEmptyDatabase, createWholeDatabase, type TestDatabase } from '../support/database.js';
import { restoreMadeDatabase } from './made-database.js';

/** What says to programs from before the steps, and to those of now, what was installed. */
const NOTES = ['event_store.event_store_schema', 'read_models.migrations', 'schema_steps.applied'];
const OURS = `nspname !~ '^pg_|^information_schema$'`;

/**
 * Everything that a schema is made of, in the words of PostgreSQL.
 *
 * @param place an expression: where a column stands in its table
 */
const catalog = (place: string): readonly string[] => [
  `select format('%s.%s %s %s', nspname, relname, relpersistence, reloptions) as line
     from pg_class c join pg_namespace n on n.oid = relnamespace where relkind in ('r', 'S') and ${OURS}`,
  `select format('%s.%s %s %s %s %s %s %s %s', nspname, relname, ${place}, attname, format_type(atttypid, atttypmod),
                 attnotnull, attidentity, attstorage,
                 coalesce(pg_get_expr(adbin, adrelid), '') || ' ' || coalesce(collname, '')) as line
     from pg_attribute a join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
     left join pg_attrdef on adrelid = attrelid and adnum = attnum left join pg_collation l on l.oid = attcollation
    where relkind = 'r' and attnum > 0 and not attisdropped and ${OURS}`,
  `select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid)) as line
     from pg_constraint k join pg_namespace n on n.oid = connamespace where conrelid <> 0 and ${OURS}`,
  `select pg_get_indexdef(indexrelid) as line
     from pg_index join pg_class c on c.oid = indexrelid join pg_namespace n on n.oid = relnamespace where ${OURS}`,
  `select pg_get_functiondef(p.oid) as line from pg_proc p join pg_namespace n on n.oid = pronamespace where ${OURS}`,
];

/** With other parameters a function is another one, and the old one stays (docs/change-a-schema.md). */
const LEFT = [
  /^CREATE OR REPLACE FUNCTION gate\.append\([^)]*in_bodies text\[\]\)/,
  /^CREATE OR REPLACE FUNCTION gate\.append_accompanied\([^)]*in_bodies text\[\]\)/,
];

const CATALOG = catalog('row_number() over (partition by c.oid order by attnum)');
/** For tables to which columns were added: they stand behind the others. */
const CATALOG_BUT_PLACES = catalog(`'anywhere'`);
/** Every table of the service. */
const TABLES = `select format('%I.%I', schemaname, tablename) as line from pg_tables
   where schemaname not in ('pg_catalog', 'information_schema')`;

/** As a program that prepares a deployment does. */
const upgrade = (connectionString: string): Promise<number> =>
  installSchemas(connectionString, [...startedSchemas(true), 'first_organization']);

describe('a database that 0.1.0 made, with data in it', () => {
  let made: TestDatabase;
  let fresh: TestDatabase;
  const clients: pg.Client[] = [];

  const clientOf = async ({ connectionString }: TestDatabase): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    clients.push(client);
    return client;
  };
  /** Without the functions that stay for programs of the version before: both must be there. */
  const ownLinesOf = async (client: pg.Client, sql: string): Promise<readonly string[]> => {
    const lines = await linesOf(client, sql);
    const left = lines.filter((line) => LEFT.some((of) => of.test(line)));
    if (sql.includes('pg_get_functiondef')) expect(left).toHaveLength(LEFT.length);
    return lines.filter((line) => !left.includes(line));
  };
  const linesOf = async (client: pg.Client, sql: string): Promise<readonly string[]> =>
    (await client.query<{ line: string }>(sql)).rows.map(({ line }) => line).sort();

  beforeAll(async () => {
    [made, fresh] = [await createEmptyDatabase(), await createWholeDatabase()];
    await restoreMadeDatabase(made.connectionString);
  });
  afterAll(async () => {
    for (const client of clients) await client.end();
    await made?.drop();
    await fresh?.drop();
  });

  const rowsOf = async (client: pg.Client): Promise<Readonly<Record<string, readonly string[]>>> => {
    const tables = await linesOf(client, TABLES);
    const rows: Record<string, readonly string[]> = {};
    for (const table of tables.filter((name) => !NOTES.includes(name))) {
      rows[table] = await linesOf(client, `select row_to_json(t)::text as line from ${table} t`);
    }
    return rows;
  };

  it('is upgraded: it holds the same rows, and then has every table, index and function of a new one', async () => {
    const client = await clientOf(made);
    const before = await rowsOf(client);
    for (const table of ['event_store.events', 'gate.payloads', 'gate.budget_counters', 'gate.approval_places']) {
      expect(before[table]?.length, table).toBeGreaterThan(0);
    }
    for (const table of ['read_models.deeds', 'read_models.security_events', 'replays.replays', 'people.sessions']) {
      expect(before[table]?.length, table).toBeGreaterThan(0);
    }
    expect(await upgrade(made.connectionString)).toBeGreaterThan(0);
    const after = await rowsOf(client);
    // A table that was not there begins without rows.
    const added = Object.keys(after).filter((table) => !(table in before));
    expect(after).toEqual({ ...before, ...Object.fromEntries(added.map((table) => [table, []])) });
    expect(await upgrade(made.connectionString)).toBe(0);

    await upgrade(fresh.connectionString);
    const other = await clientOf(fresh);
    for (const sql of CATALOG) expect(await ownLinesOf(client, sql)).toEqual(await linesOf(other, sql));
  });

  it('that lacks what 0.1.0 added to tables of its own beginnings gets it', async () => {
    const older = await createEmptyDatabase();
    await restoreMadeDatabase(older.connectionString);
    const client = await clientOf(older);
    await client.query(`
      alter table people.tokens drop column site, drop column misses;
      alter table people.code_misses drop column network, add constraint code_misses_pkey primary key (minute);
      alter table webhooks.deliveries drop column claimer;
      alter table gate.liveness drop column beaten_at;
      alter table replays.replays drop column in_force;
      alter table agents.key_prefixes drop column last_used_ms;
      alter table event_store.events reset (toast_tuple_target);
      alter table read_models.actions drop column key, alter column folded set storage extended;
      alter table read_models.deeds drop column about;
      delete from read_models.security_events;
      alter table read_models.security_events alter column session set not null, drop column export;
      drop index read_models.actions_by_verdict;
      drop table read_models.hourly_totals`);
    await upgrade(older.connectionString);
    const columns = `select format('%s.%s %s %s', table_schema, table_name, column_name, is_nullable) as line
      from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')`;
    expect(await linesOf(client, columns)).toEqual(await linesOf(await clientOf(fresh), columns));
    for (const sql of CATALOG_BUT_PLACES) {
      expect(await ownLinesOf(client, sql)).toEqual(await linesOf(await clientOf(fresh), sql));
    }
    await client.end();
    clients.splice(clients.indexOf(client), 1);
    await older.drop();
  });

  it('that lacks nothing is upgraded while somebody reads every table of it, as a backup does', async () => {
    const older = await createEmptyDatabase();
    await restoreMadeDatabase(older.connectionString);
    const reader = await clientOf(older);
    const tables = await linesOf(reader, TABLES);
    await reader.query(`begin; lock table ${tables.join(', ')} in access share mode`);
    expect(await upgrade(older.connectionString)).toBeGreaterThan(0);
    await reader.end();
    clients.splice(clients.indexOf(reader), 1);
    await older.drop();
  });
});
