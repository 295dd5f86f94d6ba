import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_ROLE_SQL, type AgentRoleRow, whyUnsafe } from './agent-role.js';
import { tlsFinding, versionFinding } from './server-findings.js';
import { SessionFailed, type SessionFault } from './session.js';
import { ReadinessBench } from '../../../../../../test/support/readiness-bench.js';

let bench: ReadinessBench;
beforeAll(async () => {
  bench = await ReadinessBench.start();
  await bench.setUp();
});
afterAll(() => bench?.close());
afterEach(() => expect(bench.open).toBe(0));

const owner = (sql: string) => bench.owner.query(sql);
const asked = async (): Promise<string | null> => {
  const session = await bench.session(bench.agentRole);
  const { rows } = await session.query(AGENT_ROLE_SQL);
  await session.close();
  return whyUnsafe(rows[0] as unknown as AgentRoleRow);
};

describe('the role of agents', () => {
  it.each([
    ['a superuser', 'alter role ags_agent superuser', 'is a superuser'],
    ['one that passes by row level security', 'alter role ags_agent bypassrls', 'BYPASSRLS'],
    ['one that replicates', 'alter role ags_agent replication', 'REPLICATION'],
    ['one that makes roles', 'alter role ags_agent createrole', 'CREATEROLE'],
    ['one that writes files', 'grant pg_write_server_files to ags_agent', 'pg_write_server_files'],
    ['one that reads files', 'grant pg_read_server_files to ags_agent', 'pg_read_server_files'],
    ['one that runs programs', 'grant pg_execute_server_program to ags_agent', 'pg_execute_server_program'],
  ])('is unsafe when it is %s, until what the finding says is run', async (_what, sql, word) => {
    expect(await asked()).toBeNull();
    await owner(sql);
    expect(await asked()).toContain(word);
    const finding = await bench.finding('agent_role');
    expect(finding).toMatchObject({ status: 'failed', detail: expect.stringContaining(word) });
    expect(finding.onlyWarns).toBeUndefined();
    expect(finding.fix).toContain('only for a role of agents alone');
    await bench.mend(finding);
    expect(await asked()).toBeNull();
  });

  it('is unsafe by what it inherits, and by what it would have to SET ROLE for', async () => {
    await owner('create role between noinherit; grant pg_write_server_files to between; grant between to ags_agent');
    expect(await asked()).toContain('pg_write_server_files');
    await owner('revoke pg_write_server_files from between; alter role between superuser');
    expect(await asked()).toContain('may become the superuser "between"');
    await bench.mend(await bench.finding('agent_role'));
    expect(await asked()).toBeNull();
  });

  it('is safe and warned of when grants mean little for it: wide roles, databases, tables of its own', async () => {
    await owner('grant pg_write_all_data to ags_agent; alter role ags_agent createdb');
    await owner('create table mine (id int primary key); alter table mine owner to ags_agent');
    expect(await asked()).toBeNull();
    const finding = await bench.finding('agent_role');
    expect(finding).toMatchObject({ status: 'failed', onlyWarns: true });
    for (const word of ['pg_write_all_data', 'make databases', 'public.mine']) expect(finding.detail).toContain(word);
    await bench.mend(finding);
    expect((await bench.finding('agent_role')).status).toBe('passed');
  });

  it('is named as it is, whatever its name', async () => {
    await owner(`create role "a ""b"" 'c' \\" login superuser`);
    await bench.givePassword(`a "b" 'c' \\`);
    const session = await bench.session(`a "b" 'c' \\`);
    const { rows } = await session.query(AGENT_ROLE_SQL);
    await session.close();
    expect(whyUnsafe(rows[0] as unknown as AgentRoleRow)).toBe(
      `The role "a ""b"" 'c' \\" of the connector is a superuser.`,
    );
  });
});

describe('the version', () => {
  it('is 14 or newer', () => {
    expect(versionFinding({ version: 130_022, version_text: '13.22' } as never).status).toBe('failed');
    expect(versionFinding({ version: 140_000, version_text: '14.0' } as never).status).toBe('passed');
  });
});

describe('encryption', () => {
  const found = (reason: SessionFault, tls: 'expired' | null = null) => {
    const terms = { ...bench.terms, ssl: 'verify-full' as const };
    return tlsFinding(terms, { ok: false, failure: new SessionFailed(reason, tls) });
  };

  it('fails where the certificate is not good, or the server takes none', () => {
    expect(found('untrusted', 'expired')).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/has expired/),
    });
    expect(found('no_tls')).toMatchObject({ status: 'failed', fix: expect.stringMatching(/ssl = on.*"disable"/s) });
  });

  it('is known once the server has refused a login over it, and unknown without a connection', () => {
    expect(found('auth_failed').status).toBe('passed');
    for (const reason of ['unreachable', 'timeout', 'blocked', 'held'] as const) {
      expect(found(reason).status).toBe('skipped');
    }
  });
});
