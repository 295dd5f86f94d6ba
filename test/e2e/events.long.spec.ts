import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '#libs/crypto';
import { type OwnServer, startOwnServer } from '../support/own-server.js';
import { runAgsHere, type AgsRun } from '../support/run-ags.js';
import { objectsIn } from '../support/run-program.js';
import { ROOT, startService, type RunningService } from '../support/service.js';

/** What people, agents and tools write: one word for each place, none of which may be seen. */
const CANARIES = {
  argument: 'canary_argument',
  agentName: 'canary_agent',
  label: 'canary_label',
  orgName: 'canary_org',
  reason: 'canary_reason',
  policyName: 'canary_policy_name',
  policyText: 'canary_policy_text',
  notes: 'canary_notes',
  connector: 'canary-connector',
  config: 'canary-config.example',
  session: 'canary_session',
} as const;

const POLICY = `version: 1
default: deny
rules:
  - id: reads
    description: ${CANARIES.policyText}
    match:
      side_effect: read
    decision: allow
`;

let server: OwnServer;
let service: RunningService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-events-'));
  server = await startOwnServer();
  const databaseUrl = server.connectionString('service');
  service = await startService({ env: { DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' } });
  await plant();
});
afterAll(async () => {
  await service?.stop();
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

const ags = (...args: string[]): Promise<AgsRun> => runAgsHere([...args, '--json'], { env: service.environment });

const act = (args: object = {}): Promise<unknown> =>
  service.call('POST', '/v1/actions', {
    key: service.agentKey,
    body: { tool: 'crm.read', args },
    headers: { 'Service-Session': CANARIES.session },
  });

/** Every word of {@link CANARIES} into the log, by the doors that people use. */
const plant = async (): Promise<void> => {
  await act({ name: CANARIES.argument });
  const made = await ags('agents', 'create', CANARIES.agentName, '--label', `team=${CANARIES.label}`);
  await ags('agents', 'stop', String(made.object['id']), '--reason', CANARIES.reason);
  await ags('org', 'create', CANARIES.orgName);
  const policy = await service.call('POST', '/v1/policies', {
    key: service.adminKey,
    body: { name: CANARIES.policyName, source: POLICY, notes: CANARIES.notes },
  });
  const connector = await service.call('POST', '/v1/connectors', {
    key: service.adminKey,
    body: {
      name: CANARIES.connector,
      type: 'rest',
      config: {
        base_url: `https://${CANARIES.config}`,
        allowed_methods: ['GET'],
        allowed_path_prefixes: ['/v1'],
        tools: [{ name: 'read', method: 'GET', path: '/v1/users' }],
      },
    },
  });
  expect([policy.status, connector.status], policy.text + connector.text).toEqual([201, 201]);
};

const inDatabase = async <Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> => {
  const client = new pg.Client({ connectionString: server.connectionString('service') });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
};

const head = async (): Promise<string> =>
  String((await inDatabase<{ head: string }>('select max(position) as head from event_store.events'))[0]?.head);

describe('ags events export, beside a running service', () => {
  it('writes every event once, in order, with the digests of its bytes', async () => {
    const to = await head();
    const { code, stderr, objects } = await ags('events', 'export', '--to', to);
    expect([code, stderr]).toEqual([0, '']);
    const rows = await inDatabase<Record<'position' | 'revision' | 'id' | 'type' | 'data' | 'metadata', string>>(
      `select * from event_store.events where position <= ${to} order by position`,
    );
    expect(rows.length).toBeGreaterThan(20);
    expect(objects).toEqual(
      rows.map((row) =>
        expect.objectContaining({
          object: 'event',
          position: Number(row.position),
          revision: Number(row.revision),
          id: row.id,
          type: row.type,
          data_digest: `sha256:${sha256Hex(row.data)}`,
          metadata_digest: `sha256:${sha256Hex(row.metadata)}`,
        }),
      ),
    );
    for (const { type, stream, at, org, actor, causation, correlation, source } of objects) {
      // Of the deployment and of people, who may be in several organizations.
      expect(org === null).toBe(/^(sealkeys|store|user-.*)$/.test(String(stream)));
      expect([at, actor, causation, correlation]).not.toContain(null);
      expect(source !== null).toBe(type === 'DeedSealed');
    }
  });

  it('twice is the same, byte by byte, in a file and on standard output', async () => {
    const to = await head();
    const path = join(folder, 'events.jsonl');
    const run = await ags('events', 'export', '--to', to, '--output', path);
    const bytes = await readFile(path);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    expect(run).toMatchObject({
      code: 0,
      objects: [{ object: 'event_export', file: path, events: Number(to) + 1, digest }],
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await act();
    expect((await ags('events', 'export', '--to', to)).stdout).toBe(bytes.toString());
  });

  it('shows nothing that people, agents or tools wrote', async () => {
    const { stdout } = await ags('events', 'export');
    const stored = await inDatabase<{ text: string }>(
      `select string_agg(stream || data || metadata, '') as text from event_store.events`,
    );
    const payloads = await inDatabase<{ text: string }>(`select string_agg(body, '') as text from gate.payloads`);
    for (const canary of Object.values(CANARIES)) {
      expect((String(stored[0]?.text) + String(payloads[0]?.text)).includes(canary), canary).toBe(true);
      expect(stdout).not.toContain(canary);
    }
    expect(stdout).not.toContain('canary');
    // As a word: an id may hold those letters.
    expect(stdout).not.toMatch(/\bcrm\b/);
    expect(stdout).toMatch(/"stream":"connector-org_[^-"]*-sha256:[0-9a-f]{64}(-sha256:[0-9a-f]{64})?"/);
  });

  it('of one organization, or of a stretch, is that part of the whole', async () => {
    const to = await head();
    const whole = (await ags('events', 'export', '--to', to)).stdout.split(/(?<=\n)/);
    const own = await ags('events', 'export', '--to', to, '--org', service.org);
    expect(own.stdout).toBe(whole.filter((line) => line.includes(`"org":"${service.org}"`)).join(''));
    expect(own.objects.length).toBeLessThan(whole.length);
    const stretch = await ags('events', 'export', '--from', '3', '--to', '7');
    expect(stretch.stdout).toBe(whole.slice(3, 8).join(''));
  });

  it('from a position that the log has not reached is empty, and says where it ends', async () => {
    const beyond = String(Number(await head()) + 1_000);
    const { code, stdout, stderr } = await ags('events', 'export', '--from', beyond);
    expect([code, stdout]).toEqual([0, '']);
    const end = /^The log ends at position (\d+): there is nothing from (\d+) on\.\n$/.exec(stderr);
    expect(end?.[2]).toBe(beyond);
    expect(Number(end?.[1])).toBeLessThanOrEqual(Number(await head()));
    const one = await ags('events', 'export', '--from', String(end?.[1]), '--to', String(end?.[1]));
    expect([one.objects.length, one.stderr]).toEqual([1, '']);
  });

  it.each([
    ['an organization that is not there', ['--org', 'org_0000000000000000000000000a'], 1, 'not_found'],
    ['a position that is none', ['--from', '-1'], 2, 'usage'],
    ['a folder that is not there', ['--output', '/nowhere/events.jsonl'], 2, 'file_unusable'],
  ])('refuses %s', async (_title, args, code, error) => {
    expect(await ags('events', 'export', ...args)).toMatchObject({ code, stdout: '', error: { code: error } });
  });

  it('says which folder is not there', async () => {
    const run = await ags('events', 'export', '--output', join(folder, 'none', 'events.jsonl'));
    expect(run.error['message']).toContain(`the folder ${join(folder, 'none')} is not there. Make it,`);
  });

  it('writes over no file', async () => {
    const path = join(folder, 'kept.jsonl');
    await writeFile(path, 'kept');
    const run = await ags('events', 'export', '--output', path);
    expect(run).toMatchObject({ code: 2, error: { code: 'file_unusable' } });
    expect(await readFile(path, 'utf8')).toBe('kept');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('ags events tail', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('follows the log in its order, and ends with 0 at %s', async (signal) => {
    const tail = startTail('--from', '0');
    await tail.until(Number(await head()));
    await act();
    const last = Number(await head());
    await tail.until(last);
    const code = await tail.end(signal);
    expect(code).toBe(0);
    expect(objectsIn(tail.printed()).map(({ position }) => position)).toEqual([
      ...Array(objectsIn(tail.printed()).length).keys(),
    ]);
    const upTo = String(objectsIn(tail.printed()).at(-1)?.['position']);
    expect(tail.printed()).toBe((await ags('events', 'export', '--to', upTo)).stdout);
  });

  it('goes on where the database was restarted, and leaves nothing out', async () => {
    const from = Number(await head()) + 1;
    const tail = startTail('--from', String(from));
    await act();
    await tail.until(from);
    await server.restart();
    await act();
    await tail.until(Number(await head()));
    expect(await tail.end('SIGINT')).toBe(0);
    const positions = objectsIn(tail.printed()).map(({ position }) => Number(position));
    expect(positions).toEqual(positions.map((_, index) => from + index));
    expect(tail.printed()).not.toContain('canary');
  });

  it('begins with the next event unless it is told where', async () => {
    const tail = startTail('--org', service.org);
    await tail.isFollowing();
    const before = Number(await head());
    await act();
    await tail.until(before + 1);
    expect(await tail.end('SIGTERM')).toBe(0);
    expect(objectsIn(tail.printed())[0]?.['position']).toBeGreaterThan(before - 1);
  });
});

describe('ags events tail, from a position that the log has not reached', () => {
  it('says so, and waits for it', async () => {
    const from = Number(await head()) + 3;
    const tail = startTail('--from', String(from));
    await tail.isFollowing();
    await act();
    await act();
    await tail.until(Number(await head()));
    expect(await tail.end('SIGINT')).toBe(0);
    expect(objectsIn(tail.printed())[0]?.['position']).toBe(from);
    expect(tail.said()).toBe(`The log ends at position ${from - 3}: waiting until it reaches ${from}.\n`);
  });

  it('is silent about the next one, which is where a tail begins', async () => {
    const from = Number(await head()) + 1;
    const tail = startTail('--from', String(from));
    await act();
    await tail.until(Number(await head()));
    expect([await tail.end('SIGINT'), tail.said()]).toEqual([0, '']);
  });
});

describe('ags events, where the log has a hole', () => {
  it('writes what is there, says what is missing and ends with 1', async () => {
    const [middle] = await inDatabase<{ position: string }>(
      `select position from event_store.events where type = 'ActionSubmitted' order by position limit 1`,
    );
    await inDatabase(`alter table event_store.events disable trigger user`);
    await inDatabase(`delete from event_store.events where position = ${middle?.position ?? ''}`);
    const run = await ags('events', 'export');
    expect(run).toMatchObject({ code: 1, error: { code: 'log_incomplete' } });
    expect(run.error['message']).toContain(`no event at position ${middle?.position ?? ''},`);
    expect(run.objects.at(-1)?.['position']).toBeGreaterThan(Number(middle?.position));
    const path = join(folder, 'holed.jsonl');
    expect(await ags('events', 'export', '--output', path)).toMatchObject({ code: 1 });
    expect(readdirSync(folder).some((name) => name.includes('holed'))).toBe(false);
    const tail = startTail('--from', '0');
    expect(await tail.ended()).toBe(1);
  });
});

interface Tail {
  printed(): string;
  /** On standard error. */
  said(): string;
  /** Until the line of this position, or of a later one, is there. */
  until(position: number): Promise<void>;
  /** Until its connection to the log is there. */
  isFollowing(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number | null>;
  ended(): Promise<number | null>;
}

const startTail = (...args: string[]): Tail => {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', 'events', 'tail', ...args], {
    cwd: ROOT,
    env: service.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null]>;
  const lines: string[] = [];
  let onLine = (): void => undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(`${line}\n`);
    onLine();
  });
  const lastPosition = (): number =>
    Number((JSON.parse(lines.at(-1) ?? '{"position":-1}') as { position: number }).position);
  return {
    printed: () => lines.join(''),
    said: () => said,
    until: async (position) => {
      while (lastPosition() < position) await new Promise<void>((resolve) => (onLine = resolve));
    },
    isFollowing: async () => {
      const following = `select 1 from pg_stat_activity where application_name = 'ags cli read' and query like '%position > $1%'`;
      while ((await inDatabase(following)).length === 0);
    },
    end: async (signal) => {
      child.kill(signal);
      return (await closed)[0];
    },
    ended: async () => (await closed)[0],
  };
};
