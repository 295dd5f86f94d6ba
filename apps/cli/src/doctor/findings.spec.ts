import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OrgId } from '#libs/domain/kernel';
import { EventWithoutOrganization, type UnsealedEvent } from '#libs/domain/ledger';
import { parseConfig } from '#libs/infra/config';
import type { ProjectionLag } from '#libs/infra/diagnosis';
import { isRoot, STRANGER } from '../../../../test/support/as-stranger.js';
import { NOW } from '../../../../test/support/given.js';
import { newOrg } from '../../../../test/support/ledger-fixtures.js';
import { newEvent } from '../../../../test/support/new-event.js';
import { judgeConnectors } from './connectors.check.js';
import { judgeRole, judgeSchema } from './database.checks.js';
import { problemOf, type FindingStatus } from './finding.js';
import { checkDiskSpace, checkSettings, checkStateDirectory, judgeFreeSpace } from './machine.checks.js';
import {
  judgeExecutions,
  judgeProjections,
  judgeSealing,
  type ExecutionsState,
  type SealingState,
} from './progress.checks.js';
import { judgeRedis } from './redis.check.js';
import { judgeSkew, type ClockReading } from './server.checks.js';

const MIB = 1024 ** 2;

describe('the settings', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ['SERVICE_PROT', '9000', 'SERVICE_PROT is not a setting; did you mean SERVICE_PORT?'],
    ['SERVICE_ENV', 'production', 'SERVICE_BASE_URL must be an https URL in production.'],
  ])('that are not usable end with one mark: %s', (variable, value, said) => {
    vi.stubEnv(variable, value);
    expect(checkSettings()).toMatchObject({ status: 'problem', message: `The settings are not usable: ${said}` });
  });
});

describe('the state directory', () => {
  it('of another user is refused as a start refuses it, whatever lies in it', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'ags-foreign-'));
    // Who is not root has no way to give a folder away; the root of the file system is another's.
    if (isRoot) await chown(stateDir, STRANGER, STRANGER);
    const foreign = isRoot ? stateDir : '/';
    const config = parseConfig({ SERVICE_STATE_DIR: foreign, DATABASE_URL: 'postgres://x@127.0.0.1:9/x' });
    await expect(checkStateDirectory(config)).rejects.toThrow(`${foreign} cannot be used: it is another user's.`);
    await rm(stateDir, { recursive: true });
  });

  it('may be absent where everything lies elsewhere, as for apis alone', async () => {
    const above = await mkdtemp(join(tmpdir(), 'ags-doctor-absent-'));
    const settings = { SERVICE_STATE_DIR: join(above, 'a', 'state'), DATABASE_URL: 'postgres://x@127.0.0.1:9/x' };
    const keys = { SERVICE_VAULT_KEY_FILE: '/keys/vault.key', SERVICE_PEPPER_FILE: '/keys/pepper.key' };
    expect(await checkStateDirectory(parseConfig({ ...settings, ...keys }))).toMatchObject({ status: 'ok' });
    expect(await checkStateDirectory(parseConfig(settings))).toMatchObject({ status: 'problem' });
    const space = await checkDiskSpace(parseConfig({ ...settings, ...keys }));
    expect(space.message).toContain(`are free in the file system of ${settings.SERVICE_STATE_DIR}`);
    await rm(above, { recursive: true });
  });
});

describe('free space', () => {
  it.each([
    [2_048, 'ok', '2.0 GiB'],
    [2_047, 'warning', '2.0 GiB'],
    [500, 'warning', '500 MiB'],
    [499, 'problem', '499 MiB'],
    [0, 'problem', '0 MiB'],
  ])('of %i MiB is %s', (mebibytes, status, shown) => {
    const finding = judgeFreeSpace('/state', mebibytes * MIB);
    expect(finding).toMatchObject({ status, message: `${shown} are free in the file system of /state.` });
    expect(finding.next === null).toBe(status === 'ok');
  });
});

describe('Redis', () => {
  const well = { version: '7.0.15', isReplica: false, evictionPolicy: 'noeviction', isPersistent: true };

  it.each([
    ['that is well', well, 'ok', 'Redis 7.0.15 answers.'],
    ['that does not say how it evicts', { ...well, evictionPolicy: null }, 'ok', 'answers'],
    ['of the oldest version', { ...well, version: '6.2.0' }, 'ok', '6.2.0'],
    ['that is too old', { ...well, version: '6.0.16' }, 'problem', 'Redis is 6.0.16.'],
    ['that is far too old', { ...well, version: '5.9.9' }, 'problem', 'Redis is 5.9.9.'],
    ['that is a replica', { ...well, isReplica: true }, 'problem', 'names a replica'],
    ['that drops keys', { ...well, evictionPolicy: 'allkeys-lru' }, 'warning', 'allkeys-lru'],
    ['that forgets', { ...well, isPersistent: false }, 'warning', 'appendonly no'],
    ['that is not there', { fault: 'Not there', next: 'Look.', isUsed: false }, 'problem', 'Not there: calls'],
    ['that is used otherwise', { fault: 'No such thing', next: 'Look.', isUsed: true }, 'warning', 'No such thing.'],
  ])('%s is judged', (_title, state, status, said) => {
    const finding = judgeRedis(state);
    expect(finding).toMatchObject({ status, message: expect.stringContaining(said) as string });
    expect(finding.next === null).toBe(status === 'ok');
  });
});

describe('sealing', () => {
  const waiting = (agoMs = 60_000): UnsealedEvent => {
    const metadata = JSON.stringify({ at: new Date(Date.parse(NOW) - agoMs).toISOString() });
    const recorded = { ...newEvent({ metadata }), stream: 'action-act_1', revision: 1, position: 7n };
    return { recorded, org: newOrg(), fault: null };
  };
  const well: SealingState = {
    parked: [],
    broken: [],
    waiting: [],
    isComplete: true,
    patienceMs: 10_000,
    isRefusing: () => false,
    isWorkerThere: true,
    isApiThere: true,
  };
  const parked = { org: 'org_a' as OrgId, since: NOW, reason: 'an event is missing' };

  it.each<[string, Partial<SealingState>, FindingStatus, string]>([
    ['nothing that waits', {}, 'ok', 'Nothing has waited to be sealed for 10 s.'],
    ['nothing that runs and nothing that waits', { isWorkerThere: false, isApiThere: false }, 'ok', 'Nothing'],
    [
      'one that nobody seals',
      { waiting: [waiting()], isWorkerThere: false },
      'warning',
      '1 outcome waits to be sealed since 2026-10-01T11:59:00.000Z, and no worker is connected to the database.',
    ],
    [
      'two that a worker does not seal',
      { waiting: [waiting(), waiting(1)] },
      'warning',
      '2 outcomes wait to be sealed since 2026-10-01T11:59:00.000Z, and a worker is connected to the database.',
    ],
    [
      'more than were counted',
      { waiting: Array.from({ length: 1_000 }, () => waiting()), isComplete: false },
      'warning',
      'At least 1,000 outcomes wait',
    ],
    ['what could not be looked at', { isComplete: false }, 'warning', 'could not be found in time'],
    [
      'refusals',
      { waiting: [waiting()], isRefusing: () => true },
      'problem',
      'connected to the database: new calls are refused with 503.',
    ],
    ['nobody to refuse', { waiting: [waiting()], isRefusing: () => true, isApiThere: false }, 'warning', '1 outcome'],
    [
      'an organization that is parked',
      { parked: [parked], waiting: [waiting()] },
      'problem',
      `The ledger of org_a cannot go on since ${NOW}: an event is missing.`,
    ],
    [
      'a ledger that does not continue what was signed',
      { broken: [{ org: 'org_b' as OrgId, since: NOW, reason: 'shorter' }] },
      'problem',
      `The ledger of org_b does not continue what was signed since ${NOW} (shorter)`,
    ],
    ['several that are', { parked: [parked, parked, parked] }, 'problem', 'of org_a (and 2 more) cannot go on'],
    [
      'an event that is nobody’s',
      { waiting: [{ ...waiting(), org: null, fault: new EventWithoutOrganization(waiting().recorded) }] },
      'problem',
      'action-act_1 holds at revision 1 an event (SomethingHappened) that does not say whose it is',
    ],
  ])('with %s is judged', (_title, state, status, said) => {
    const finding = judgeSealing({ ...well, ...state });
    expect(finding).toMatchObject({ status, message: expect.stringContaining(said) as string });
    expect(finding.next === null).toBe(status === 'ok');
  });

  it('says what to start, or where to look', () => {
    const nextWhere = (isWorkerThere: boolean): string | null =>
      judgeSealing({ ...well, waiting: [waiting()], isWorkerThere }).next;
    expect(nextWhere(false)).toMatch(/^Start a worker \(`npm run start:worker`\)/);
    expect(nextWhere(true)).toMatch(/^Its log says/);
  });
});

describe('executions that nobody runs', () => {
  const call = { ...newEvent(), stream: 'action-act_1', revision: 2, position: 7n };
  const none = { waiting: [], isComplete: true, patienceMs: 10_000, isWorkerThere: false };

  it.each<[string, Partial<ExecutionsState>, FindingStatus, string]>([
    ['are none', {}, 'ok', 'Nothing has waited to be executed for 10 s.'],
    [
      'are one',
      { waiting: [call] },
      'warning',
      '1 call waits to be executed since a time that it does not say, and no worker is connected to the database.',
    ],
    ['are two', { waiting: [call, call] }, 'warning', '2 calls wait'],
    ['are not all counted', { waiting: [call], isComplete: false }, 'warning', 'At least 1 call waits'],
    ['could not be looked for', { isComplete: false }, 'warning', 'could not be found in time'],
    ['are those of a worker that hangs', { waiting: [call], isWorkerThere: true }, 'warning', 'not show that it lives'],
  ])('that %s are judged', (_title, state, status, said) => {
    const finding = judgeExecutions({ ...none, ...state });
    expect(finding).toMatchObject({ status, message: expect.stringContaining(said) as string });
    expect(finding.next === null).toBe(status === 'ok');
  });

  it('say what to start, or where to look', () => {
    const nextWhere = (isWorkerThere: boolean) => judgeExecutions({ ...none, waiting: [call], isWorkerThere }).next;
    expect(nextWhere(false)).toMatch(/^Start a worker \(`npm run start:worker`\)/);
    expect(nextWhere(true)).toMatch(/^Its log says/);
  });
});

describe('projections', () => {
  const oldest = { ...newEvent(), stream: 's-1', revision: 0, position: 7n };
  const lag = (events: number): ProjectionLag => ({ late: ['actions', 'deeds'], oldest, events });

  it.each<[string, ProjectionLag | null, FindingStatus, string]>([
    ['behind nothing', null, 'ok', 'The lists show everything that the log holds.'],
    [
      'behind one event',
      lag(1),
      'warning',
      '1 event waits to be shown in lists since a time that it does not say (actions, deeds), and no projector',
    ],
    ['behind many', lag(999), 'warning', '999 events wait'],
    ['behind more than were counted', lag(1_000), 'warning', 'At least 1,000 events wait'],
  ])('that are %s are judged', (_title, state, status, said) => {
    const finding = judgeProjections(state, false);
    expect(finding).toMatchObject({ status, message: expect.stringContaining(said) as string });
    expect(finding.next === null).toBe(status === 'ok');
  });

  it('say what to start, or where to look', () => {
    expect(judgeProjections(lag(1), false).next).toMatch(/^Start a projector \(`npm run start:projector`\)/);
    expect(judgeProjections(lag(1), true).next).toMatch(/^Its log says/);
  });
});

describe('clock skew', () => {
  const AT = Date.parse('2026-10-01T12:00:00Z');
  const reading = (fromMs: number, toMs = fromMs, took = 0): ClockReading => ({
    of: 'the database',
    askedAtMs: AT,
    answeredAtMs: AT + took,
    fromMs: AT + fromMs,
    toMs: AT + toMs,
  });

  it.each([
    ['2 s ahead', reading(2_000), 'ok'],
    ['more than 2 s ahead', reading(2_001), 'warning'],
    ['more than 2 s behind', reading(-2_001), 'warning'],
    ['30 s behind', reading(-30_000), 'warning'],
    ['more than 30 s behind', reading(-30_001), 'problem'],
    ['10 s ahead, which the answer took', reading(10_000, 10_000, 8_000), 'ok'],
    ['read to the second', reading(-2_900, -1_900), 'ok'],
  ])('%s is judged %s', (_title, clock, status) => {
    expect(judgeSkew([clock]).status).toBe(status);
  });

  it('is that of the worst clock, which is named', () => {
    const finding = judgeSkew([reading(0), { ...reading(45_000), of: 'the service' }]);
    expect(finding).toMatchObject({
      status: 'problem',
      message: 'The clock of the service is 45.0 s from that of this machine.',
    });
  });
});

describe('the role', () => {
  const fine = { role: 'clerk', isStandby: false, lacks: [], owners: [] };

  it('that lacks nothing is well', () => {
    expect(judgeRole(fine)).toMatchObject({ status: 'ok', next: null });
  });

  it('is told what it lacks, and every statement that ends it', () => {
    const lacks = [
      { privileges: 'update, delete', place: 'gate.checkpoint, ledger.parked' },
      { privileges: 'usage', place: 'schema gate' },
    ];
    expect(judgeRole({ ...fine, lacks, owners: ['ags'] })).toEqual({
      status: 'problem',
      message:
        'The role clerk lacks UPDATE, DELETE on gate.checkpoint, ledger.parked; USAGE on schema gate, and may not act as ' +
        'ags, who owns what an upgrade and a rebuild of projections change.',
      next:
        'Run `grant update, delete on gate.checkpoint, ledger.parked to clerk; grant usage on schema gate to clerk; ' +
        'grant ags to clerk;` as the owner or a superuser, or use the role that the service was set up with.',
    });
  });

  it('of a standby is no matter', () => {
    const finding = judgeRole({ ...fine, isStandby: true, owners: ['ags'] });
    expect(finding).toMatchObject({ status: 'problem', next: 'Name the primary in DATABASE_URL.' });
  });
});

describe('the schema', () => {
  const noted = ['event_store', 'gate'];
  const fine = { isPrepared: true, noted, behind: [], newer: [], unfit: [], missingTables: [] };
  it.each([
    ['of this version', fine, 'ok'],
    ['of none', { ...fine, isPrepared: false, behind: ['gate'] }, 'problem'],
    ['of an older version', { ...fine, behind: ['gate'] }, 'warning'],
    ['of a newer version', { ...fine, unfit: ['Run that version.'] }, 'problem'],
    ['of a newer version that this one may run beside', { ...fine, newer: ['gate'] }, 'warning'],
    ['without a table', { ...fine, missingTables: ['gate.payloads'] }, 'problem'],
  ])('%s is judged %s', (_title, state, status) => {
    expect(judgeSchema(state).status).toBe(status);
  });

  it('of processes that were started before init is made whole by init', () => {
    const { next } = judgeSchema({ ...fine, missingTables: ['agents.first_organization'] });
    expect(next).toContain('Run `npm run ags -- init`');
    expect(judgeSchema({ ...fine, missingTables: ['gate.payloads'] }).next).toContain('restore a backup');
  });

  it('of which init has made a table that was removed is made whole by a backup', () => {
    const missingTables = ['agents.first_organization'];
    const { next } = judgeSchema({ ...fine, noted: [...noted, 'first_organization'], missingTables });
    expect(next).toContain('restore a backup');
    expect(next).not.toContain('init');
  });
});

describe('an error that says what to do', () => {
  it('becomes a problem and its next step', () => {
    expect(problemOf('/keys/vault.key is missing. Restore it from your backup; or not.')).toEqual({
      status: 'problem',
      message: '/keys/vault.key is missing.',
      next: 'Restore it from your backup; or not.',
    });
    expect(problemOf('It is broken').next).toBe('Put that right and run this again.');
  });
});

describe('connectors', () => {
  it('warn by name where they fail or stand untested, with the test to make', () => {
    const well = { failing: [], untested: [], total: 2 };
    expect(judgeConnectors(well)).toMatchObject({ status: 'ok' });
    expect(judgeConnectors({ ...well, total: 0 })).toMatchObject({ status: 'ok' });
    expect(judgeConnectors({ failing: ['crm'], untested: ['pay', 'hr'], total: 3 })).toEqual({
      status: 'warning',
      message: 'Of the connectors, crm failed its last test, and pay, hr were not tested, or changed since.',
      next: 'Test each, in the Console or with `npm run ags -- connectors test crm`, which says what to do.',
    });
    const many = Array.from({ length: 11 }, (_, n) => `c${n}`);
    expect(judgeConnectors({ failing: [], untested: many, total: 11 }).message).toContain(
      'c7 and 3 more were not tested',
    );
  });
});
