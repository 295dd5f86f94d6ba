import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCrm } from '../support/crm.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { giveToRole } from '../support/role-of-its-own.js';
import { runAgs } from '../support/run-ags.js';
import { runDoctor } from '../support/run-doctor.js';
import { startService, type RunningService } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { startUpstream } from '../support/upstream.js';

describe('ags doctor with the role that DATABASE_URL names', () => {
  const role = `clerk_${randomBytes(6).toString('hex')}`;
  let own: TestDatabase;
  let superuser: pg.Client;
  let served: RunningService;

  beforeAll(async () => {
    own = await createTestDatabase();
    superuser = new pg.Client({ connectionString: own.connectionString });
    await superuser.connect();
    const DATABASE_URL = await giveToRole(superuser, own.connectionString, role);
    served = await startService({ env: { DATABASE_URL, LOG_LEVEL: 'error' } });
  });
  afterAll(async () => {
    await served?.stop();
    await superuser?.end();
    await own?.drop();
  });

  const examined = async (env: NodeJS.ProcessEnv = {}) => {
    const run = await runDoctor([], { env: { ...served.environment, ...env } });
    return { code: run.code, ...run.objects.find(({ check }) => check === 'database_role') };
  };
  /** The statements that the finding names. */
  const grantsIn = (finding: object): string => /`(.+)`/.exec('next' in finding ? String(finding.next) : '')?.[1] ?? '';

  it.each([
    ['update', 'gate.checkpoint'],
    ['delete', 'gate.payloads'],
    ['truncate', 'read_models.deeds'],
  ])('finds that it lacks %s on %s alone, and says how it is granted', async (privilege, table) => {
    await superuser.query(`revoke ${privilege} on ${table} from ${role}`);
    const finding = await examined();
    expect(finding).toMatchObject({
      code: 1,
      status: 'problem',
      message: `The role ${role} lacks ${privilege.toUpperCase()} on ${table}.`,
      next:
        `Run \`grant ${privilege} on ${table} to ${role};\` as the owner or a superuser, or use the role that the ` +
        'service was set up with.',
    });
    await superuser.query(grantsIn(finding));
    expect(await examined()).toMatchObject({ code: 0, status: 'ok' });
  });

  it('asks for what is enough: with that and nothing else a service starts, works and is rebuilt', async () => {
    const { rows } = await superuser.query<{ names: string }>(
      `select string_agg(schemaname || '.' || tablename, ', ') as names from pg_tables where tableowner = $1`,
      [role],
    );
    await superuser.query(`revoke all on ${rows[0]?.names ?? ''} from ${role}`);
    const bare = await examined();
    expect(bare.code).toBe(1);
    await superuser.query(grantsIn(bare));
    expect(await examined()).toMatchObject({ code: 0, status: 'ok' });
    await served.restart();
    const upstream = await startUpstream((_request, response) => void response.end('{}'));
    try {
      await connectCrm(served, upstream.baseUrl);
      const act = (key: string) =>
        served.call('POST', '/v1/actions', {
          key: served.agentKey,
          body: { tool: 'crm.add_note', args: { id: '42', text: 'hello' }, wait: 25 },
          headers: { 'Idempotency-Key': key },
        });
      for (const key of ['one', 'two', 'one']) {
        expect(await act(key)).toMatchObject({
          status: 200,
          json: { state: 'sealed', execution: { status: 'succeeded' } },
        });
      }
      const removed = await served.call('DELETE', '/v1/connectors/crm', { key: served.adminKey });
      expect(removed.status).toBeLessThan(300);
      const rebuilt = await runAgs(['projections', 'rebuild', '--json'], { env: served.environment });
      expect(rebuilt).toMatchObject({ code: 0, stderr: '' });
      const listed = await upToDate(() => served.call('GET', '/v1/actions', { key: served.adminKey }));
      expect(listed.json['data']).toHaveLength(2);
    } finally {
      await upstream.close();
    }
    expect(served.stdout + served.stderr).not.toContain('permission denied');
  });

  it('finds a role that may change every row and owns nothing, as which no upgrade can be made', async () => {
    const guest = `${role}_guest`;
    const schemas =
      'agents, connectors, event_store, gate, idempotency, ledger, people, public, read_models, replays, schema_steps, webhooks';
    await superuser.query(`
      create role ${guest} login password '${role}';
      grant create on database ${new URL(own.connectionString).pathname.slice(1)} to ${guest};
      grant all on schema ${schemas} to ${guest};
      grant all on all tables in schema ${schemas} to ${guest}`);
    const DATABASE_URL = Object.assign(new URL(own.connectionString), { username: guest, password: role }).href;
    const finding = await examined({ DATABASE_URL });
    expect(finding).toMatchObject({
      code: 1,
      message: `The role ${guest} may not act as ${role}, who owns what an upgrade and a rebuild of projections change.`,
    });
    await served.kill('SIGTERM');
    const start = () => startService({ env: { DATABASE_URL, LOG_LEVEL: 'error' }, stateDir: served.stateDir });
    await (await start()).stop();
    // As if this version had a function that the one before did not have.
    await superuser.query(`delete from schema_steps.applied where name = 'forget-budgets'`);
    await expect(start()).rejects.toThrow('must be owner');
    await superuser.query(grantsIn(finding));
    expect(await examined({ DATABASE_URL })).toMatchObject({ code: 0, status: 'ok' });
    await (await start()).stop();
  });
});
