import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { replicaIdentityFinding } from './publication-findings.js';
import { encodingFinding } from './server-findings.js';
import { ReadinessBench } from '../../../../../../test/support/readiness-bench.js';
import { walLevelFinding, witnessRoleFinding } from './witness-findings.js';

const ORDERS = { schema: 'public', name: 'orders', isFull: false };

let bench: ReadinessBench;
beforeAll(async () => {
  bench = await ReadinessBench.start();
  await bench.owner.query('create table orders (id serial primary key, state text)');
  await bench.setUp([ORDERS]);
});
afterAll(() => bench?.close());
afterEach(() => expect(bench.open).toBe(0));

const owner = (sql: string) => bench.owner.query(sql);
/** Red after the statement, with these words, and green again after what the finding says. */
const breaks = async (check: string, by: string, ...words: readonly string[]) => {
  await owner(by);
  const finding = await bench.finding(check);
  expect(finding).toMatchObject({ status: 'failed' });
  for (const word of words) expect(finding.detail).toContain(word);
  await bench.mend(finding);
  expect(await bench.finding(check), finding.fix ?? '').toMatchObject({ status: 'passed' });
  return finding;
};

describe('the checklist of a database', () => {
  it('passes whole after the set-up, but for what only an operator can set', async () => {
    const found = await bench.findings();
    expect([...found].map(([name, { status }]) => `${name} ${status}`)).toEqual([
      'tls skipped',
      'reachable passed',
      'version passed',
      'encoding passed',
      'agent_role passed',
      'schemas passed',
      'witness_role passed',
      'wal_level passed',
      'free_slot passed',
      'publication passed',
      'replica_identity passed',
      'published_tables passed',
      'slot passed',
      'slot_size failed',
      'lag passed',
    ]);
    expect([...found.values()].filter(({ onlyWarns }) => onlyWarns)).toEqual([found.get('slot_size')]);
  });

  it('leaves out what a connector without a witness does not need', async () => {
    const found = await bench.findings({ witness: null });
    const skipped = [...found].filter(([, { status }]) => status === 'skipped').map(([name]) => name);
    expect(skipped).toEqual([
      'tls',
      'witness_role',
      'wal_level',
      'free_slot',
      'publication',
      'replica_identity',
      'published_tables',
      'slot',
      'slot_size',
      'lag',
    ]);
  });

  it('tells a login that is not taken, of the agents and of the witness', async () => {
    await owner(`alter role ags_agent password 'another'`);
    expect(await bench.finding('reachable')).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/login/),
    });
    expect((await bench.finding('version')).status).toBe('skipped');
    await bench.givePassword('ags_agent');
    await owner(`alter role ags_witness password 'another'`);
    expect(await bench.finding('witness_role')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('the witness'),
    });
    await bench.givePassword('ags_witness');
  });

  it('finds settings that would make statements mean something else', async () => {
    await breaks(
      'encoding',
      'alter role ags_agent set standard_conforming_strings = off',
      'standard_conforming_strings',
    );
    await breaks('encoding', 'alter role ags_agent set track_counts = off', 'track_counts');
  });

  it('finds a database that is not UTF8', async () => {
    const base = { standard_conforming_strings: 'on', track_counts: 'on', encoding: 'LATIN1' };
    expect(encodingFinding(base as never, bench.terms, 'r')).toMatchObject({ status: 'failed' });
  });

  it('finds a schema that is closed to the agents, and one that there is not', async () => {
    await breaks(
      'schemas',
      'revoke usage on schema public from public, ags_agent',
      '"ags_agent" may not use',
      '"public"',
    );
    const missing = await bench.finding('schemas', { schemas: ['public', 'nowhere'] });
    expect(missing).toMatchObject({ status: 'failed', detail: 'There is no schema "nowhere".' });
  });
});

describe('the role of the witness', () => {
  it('has to replicate, and is no superuser', async () => {
    await breaks('witness_role', 'alter role ags_witness noreplication', 'may not replicate');
    await breaks('witness_role', 'alter role ags_witness superuser', 'is a superuser');
  });

  it('may change nothing that it watches, by itself or by everybody’s right', async () => {
    await breaks('witness_role', 'grant update on orders to ags_witness', 'public.orders');
    await breaks('witness_role', 'grant truncate on orders to public', 'public.orders');
  });

  it('is another one than that of the agents', async () => {
    const facts = { role: 'same', is_superuser: false, replicates: true, writes: [] };
    expect(witnessRoleFinding(facts, 'same')).toMatchObject({ status: 'failed' });
  });
});

describe('the slot', () => {
  it('has to be there, and is made by what the finding says', async () => {
    await breaks('slot', `select pg_drop_replication_slot('ags_slot')`, 'no replication slot "ags_slot"');
  });

  it('is another’s where its plugin, its kind or its database differ', async () => {
    await owner(`select pg_create_logical_replication_slot('other_plugin', 'pgoutput', false, true)`);
    await owner(`select pg_create_physical_replication_slot('physical')`);
    const named = (slot: string) => bench.finding('slot', { witness: { slot, publication: bench.publication } });
    expect((await named('other_plugin')).detail).toContain('two_phase');
    expect((await named('physical')).detail).toContain('physical');
    await owner(`select pg_drop_replication_slot(name) from unnest(array['other_plugin', 'physical']) name`);
  });

  it('needs a free one where it is not there, and none where it is', async () => {
    const { rows } = await owner('show max_replication_slots');
    const count = Number(rows[0]?.['max_replication_slots']);
    for (let made = 1; made < count; made += 1) await owner(`select pg_create_physical_replication_slot('s${made}')`);
    expect((await bench.finding('free_slot')).status).toBe('passed');
    const other = { witness: { slot: 'another', publication: bench.publication } };
    expect(await bench.finding('free_slot', other)).toMatchObject({
      status: 'failed',
      fix: expect.stringMatching(/max_replication_slots = 12/),
    });
    await owner(`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name like 's%'`);
    expect((await bench.finding('free_slot', other)).status).toBe('passed');
  });

  it('warns of a log without an end until there is one, and of a slot that is far behind', async () => {
    const unbounded = await bench.finding('slot_size');
    expect(unbounded).toMatchObject({ status: 'failed', onlyWarns: true });
    await bench.mend(unbounded);
    await expect.poll(async () => (await bench.finding('slot_size')).status).toBe('passed');
    await owner(`insert into orders (state) select repeat('x', 1000) from generate_series(1, 20000)`);
    expect(await bench.finding('lag')).toMatchObject({
      status: 'failed',
      onlyWarns: true,
      detail: expect.stringMatching(/behind by \d\d/),
    });
    await owner(`select pg_replication_slot_advance('ags_slot', pg_current_wal_lsn())`);
    expect((await bench.finding('lag')).status).toBe('passed');
  });

  it('that is lost is told apart, with how to begin anew', async () => {
    await owner(`alter system set max_slot_wal_keep_size = '0'`);
    await owner('select pg_reload_conf()');
    await owner(`insert into orders (state) select repeat('x', 1000) from generate_series(1, 40000)`);
    for (let turn = 0; turn < 3; turn += 1) await owner('select pg_switch_wal()').then(() => owner('checkpoint'));
    await expect.poll(async () => (await bench.finding('slot')).detail).toMatch(/is lost/);
    await bench.mend(await bench.finding('slot'));
    expect((await bench.finding('slot')).status).toBe('passed');
    await owner(`alter system set max_slot_wal_keep_size = '1GB'`);
    await owner('select pg_reload_conf()');
  });

  it('needs a log that is logical', async () => {
    expect(walLevelFinding({ wal_level: 'replica' } as never)).toMatchObject({
      status: 'failed',
      fix: expect.stringMatching(/'logical'/),
    });
  });
});

describe('the publication', () => {
  it('has to be there', async () => {
    await owner('drop publication ags_publication');
    expect(await bench.finding('publication')).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/no publication/),
    });
    expect((await bench.finding('replica_identity')).status).toBe('skipped');
    await bench.setUp([ORDERS]);
    expect((await bench.finding('publication')).status).toBe('passed');
  });

  it('names its tables one by one: neither all of them nor a schema', async () => {
    const named = (publication: string) => bench.finding('publication', { witness: { slot: bench.slot, publication } });
    await owner('create publication wide for all tables with (publish_via_partition_root = true)');
    await owner('create publication schematic for tables in schema public with (publish_via_partition_root = true)');
    expect((await named('wide')).detail).toContain('all tables');
    expect((await named('schematic')).detail).toContain('whole schemas ("public")');
    await owner('drop publication wide, schematic');
  });

  it('publishes every kind of change, of the table that was named', async () => {
    await breaks(
      'publication',
      `alter publication ags_publication set (publish = 'insert')`,
      'update, delete, truncate',
    );
    await breaks(
      'publication',
      'alter publication ags_publication set (publish_via_partition_root = false)',
      'partitions',
    );
  });

  it('leaves out no row and no column', async () => {
    await breaks(
      'publication',
      'alter publication ags_publication set table orders where (id > 5)',
      'leaves out',
      'orders',
    );
    await breaks('publication', 'alter publication ags_publication set table orders (id)', 'leaves out', 'orders');
  });

  it('warns of tables that agents may change and that are not published, and of names that are none', async () => {
    await owner('create table notes (id int primary key)');
    await owner('grant insert on notes to ags_agent');
    const finding = await bench.finding('published_tables', {
      namedTables: [{ schema: 'public', name: 'gone' }],
    });
    expect(finding).toMatchObject({ status: 'failed', onlyWarns: true });
    expect(finding.detail).toMatch(/"public"\."notes".*"public"\."gone"/);
    // No SQL to paste: published without a key, the table could not be updated by anybody.
    expect(finding.fix).toContain(`database setup --connector NAME --table '"public"."notes"'`);
    await owner('alter publication ags_publication add table notes');
    expect((await bench.finding('published_tables')).status).toBe('passed');
    await owner('drop table notes');
  });
});

describe('the replica identity of published tables', () => {
  const published = async (create: string, ...more: readonly string[]) => {
    await owner(create);
    for (const sql of more) await owner(sql);
    await owner('alter publication ags_publication add table odd');
    return bench.finding('replica_identity');
  };
  afterEach(() => owner('drop table if exists odd cascade'));
  /** What PostgreSQL itself says of an UPDATE by the owner. */
  const isUpdateRefused = (): Promise<boolean> =>
    owner('update odd set id = id').then(
      () => false,
      () => true,
    );

  it.each([
    ['no key', 'create table odd (id int)', []],
    ['NOTHING', 'create table odd (id int primary key)', ['alter table odd replica identity nothing']],
    ['a deferrable key', 'create table odd (id int primary key deferrable)', []],
    [
      'an index that is gone',
      'create table odd (id int not null)',
      ['create unique index i on odd (id)', 'alter table odd replica identity using index i', 'drop index i'],
    ],
    [
      'a partition without a key',
      'create table odd (id int) partition by range (id)',
      ['create table odd_1 partition of odd default'],
    ],
  ])('is missing with %s, as PostgreSQL says, until it is FULL', async (_case, create, more) => {
    const finding = await published(create, ...more);
    expect(finding).toMatchObject({ status: 'failed', detail: expect.stringMatching(/odd/) });
    await owner('insert into odd values (1)');
    expect(await isUpdateRefused()).toBe(true);
    await bench.mend(finding);
    expect((await bench.finding('replica_identity')).status).toBe('passed');
    expect(await isUpdateRefused()).toBe(false);
  });

  it.each([
    ['a primary key', 'create table odd (id int primary key)', []],
    ['FULL', 'create table odd (id int)', ['alter table odd replica identity full']],
    [
      'an index',
      'create table odd (id int not null)',
      ['create unique index i on odd (id)', 'alter table odd replica identity using index i'],
    ],
    [
      'keys of partitions',
      'create table odd (id int primary key) partition by range (id)',
      ['create table odd_1 partition of odd default'],
    ],
    [
      'a key and a virtual column',
      'create table odd (id int primary key, twice int generated always as (id * 2) virtual)',
      [],
    ],
    [
      'FULL and a stored column that is published',
      'create table odd (id int, twice int generated always as (id * 2) stored)',
      ['alter table odd replica identity full'],
    ],
  ])('is there with %s', async (_case, create, more) => {
    expect((await published(create, ...more)).status).toBe('passed');
    await owner('insert into odd values (1)');
    expect(await isUpdateRefused()).toBe(false);
  });

  it('fails for FULL with a stored generated column that is not published', async () => {
    await owner('alter publication ags_publication set (publish_generated_columns = none)');
    const finding = await published(
      'create table odd (id int, twice int generated always as (id * 2) stored)',
      'alter table odd replica identity full',
    );
    expect(finding).toMatchObject({ status: 'failed', detail: expect.stringMatching(/stored generated column/) });
    await owner('insert into odd values (1)');
    expect(await isUpdateRefused()).toBe(true);
    await bench.mend(finding);
    expect(await isUpdateRefused()).toBe(false);
  });

  it('fails for FULL with a virtual generated column, always', async () => {
    const finding = await published(
      'create table odd (id int primary key, twice int generated always as (id * 2) virtual)',
      'alter table odd replica identity full',
    );
    expect(finding).toMatchObject({ status: 'failed', detail: expect.stringMatching(/virtual generated column/) });
    await owner('insert into odd values (1)');
    expect(await isUpdateRefused()).toBe(true);
    await bench.mend(finding);
    expect(await isUpdateRefused()).toBe(false);
  });

  it('warns of a table that becomes unlogged', async () => {
    await published('create table odd (id int primary key)');
    const table = {
      schema: 'public',
      name: 'odd',
      root: 'odd',
      kind: 'r',
      identity: 'd',
      has_key: true,
      is_unlogged: true,
    };
    const publication = { all_tables: false, schemas: [], generated: 's' };
    const finding = replicaIdentityFinding({ publication, tables: [table] } as never, 'p');
    expect(finding).toMatchObject({ status: 'failed', onlyWarns: true });
  });
});
