import { parseArgs } from 'node:util';
import pg from 'pg';
import { startBenchService, type BenchService } from './bench-service.js';
import { connectBenchCrm } from './bench-crm.js';
import { absolute, against, print, say } from './figure.js';
import { holds } from './holds.js';
import { offlineVerify } from './offline-verify.js';
import { paced, quantile } from './pace.js';
import { LeanClients, leanRequest } from './lean-client.js';
import { listSpeed } from './lists.js';
import { residentBytes } from './processes.js';
import { PROFILES, type Profile } from './profile.js';
import { rebuildSpeed } from './rebuild.js';
import { saturation } from './saturation.js';
import { takeover } from './takeover.js';
import { startUpstream } from '../support/upstream.js';

const PER_SECOND = 50;
const MIB = 1024 * 1024;
const GOALS = { overheadP50: 6, overheadP99: 15, idleMiB: 200, warmStartMs: 3_000 };

/** Submit to sealed as the client sees it, minus the time the upstream took, and single-row commits between them. */
const gateOverhead = async (service: BenchService, seconds: number): Promise<void> => {
  const upstreamMs = new Map<string, number>();
  const upstream = await startUpstream(({ headers }, response) => {
    const begun = performance.now();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}', () => {
      upstreamMs.set(String(headers['service-action-id']), performance.now() - begun);
    });
  });
  await connectBenchCrm(service, upstream.baseUrl);
  const server = await service.database();
  // One commit does not wait for the one before it.
  const pool = new pg.Pool({ connectionString: server.connectionString('service') });
  await pool.query('create table if not exists public.bench_commits (id bigserial primary key, note text not null)');
  const body = JSON.stringify({ tool: 'crm.add_note', args: { id: '42', text: 'bench' } });
  const request = leanRequest('POST', '/v1/actions', { Authorization: `Bearer ${service.agentKey}` }, body);
  const clients = new LeanClients(new URL(service.baseUrl));
  const overheads: number[] = [];
  const submit = async (): Promise<void> => {
    const begun = performance.now();
    const answer = await clients.send(request);
    const tookMs = performance.now() - begun;
    const { id, state } = JSON.parse(answer.body) as { id?: string; state?: string };
    if (state !== 'sealed') throw new Error(`an action did not end sealed: ${answer.body}`);
    overheads.push(tookMs - (upstreamMs.get(String(id)) ?? 0));
  };
  say(`warming up, then ${PER_SECOND} actions/s for ${seconds} s ...`);
  await paced(PER_SECOND, 5, submit);
  overheads.length = 0;
  await paced(PER_SECOND, seconds, submit);
  clients.close();
  say(`${PER_SECOND} durable single-row commits/s for ${Math.ceil(seconds / 3)} s ...`);
  const commits: number[] = [];
  await paced(PER_SECOND, Math.ceil(seconds / 3), async () => {
    const begun = performance.now();
    await pool.query(`insert into public.bench_commits (note) values ('x')`);
    commits.push(performance.now() - begun);
  });
  await pool.query('drop table public.bench_commits');
  await pool.end();
  await server.release();
  const commit = quantile(commits, 0.5);
  const of = (share: number) => [quantile(overheads, share), commit] as const;
  print(against('gate_overhead_p50', of(0.5), 'ms', 'at most', GOALS.overheadP50), service.profile);
  print(against('gate_overhead_p99', of(0.99), 'ms', 'at most', GOALS.overheadP99), service.profile);
  await saturation(service, seconds);
  await upstream.close();
};

/** A start on a prepared state directory, from the program's first instruction to a healthy answer. */
const warmStart = async (service: BenchService): Promise<void> => {
  const begun = performance.now();
  await service.restart();
  for (;;) {
    const health = await service.call('GET', '/v1/health');
    if (health.status === 200) break;
  }
  print(absolute('warm_start', performance.now() - begun, 'ms', 'at most', GOALS.warmStartMs), service.profile);
};

/** Of the service's processes and their stores, each page counted once, after they have been quiet. */
const idleMemory = async (service: BenchService): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const sizes = await residentBytes(service.processes);
  if (sizes === null) return say('idle_memory is skipped: this system has no /proc/<pid>/smaps_rollup');
  say(sizes.map(({ name, bytes }) => `${name} ${(bytes / MIB).toFixed(0)} MiB`).join(', '));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  print(absolute('idle_memory', total / MIB, 'MiB', 'at most', GOALS.idleMiB), service.profile);
};

const onScratchService = async (profile: Profile, measure: (service: BenchService) => Promise<void>): Promise<void> => {
  say(`starting a scratch service, ${profile} ...`);
  const service = await startBenchService(profile);
  try {
    await measure(service);
  } finally {
    await service.stop();
  }
};

/** What needs a running service. */
const serviceFigures = (profile: Profile, seconds: number): Promise<void> =>
  onScratchService(profile, async (service) => {
    await warmStart(service);
    await idleMemory(service);
    await gateOverhead(service, seconds);
  });

/** What needs much room in a database. */
const rowFigures = async (profile: Profile): Promise<void> => {
  await rebuildSpeed(profile);
  await onScratchService(profile, listSpeed);
};

const SECTIONS = ['service', 'rows', 'takeover', 'verify', 'holds'] as const;

const USAGE = `usage: npm run bench -- [--profile embedded|distributed] [--only service|rows|takeover|verify|holds] [--seconds 60]
Prints one JSON line a figure; progress on standard error.

  --profile  distributed: each figure of a deployment twice, of one process with its own PostgreSQL (embedded, which is
             all that is measured unless this is said), and of an api, a worker and a projector on PostgreSQL, on the
             KurrentDB that KURRENTDB_PROGRAM names, and on the redis-server of this machine; what is missing is said
  --only     the figures of a running service, those of rebuilding and listing many rows, how long nobody seals or
             projects when whoever did is gone, those of offline verification, or how long hostile input holds the
             event loop; may be repeated
  --seconds  how long the service is loaded
`;

const isOneOf = <Name extends string>(names: readonly Name[], given: string): given is Name =>
  names.some((name) => name === given);

/**
 * `npm run bench`: one JSON line a figure. The limit of a ratio is measured in the same run, so that a slow or busy machine
 * slows both; of times also at the same pace.
 */
const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      profile: { type: 'string', default: 'embedded' },
      only: { type: 'string', multiple: true, default: [...SECTIONS] },
      seconds: { type: 'string', default: '60' },
      help: { type: 'boolean' },
    },
  });
  const isKnown = isOneOf(PROFILES, values.profile) && values.only.every((name) => isOneOf(SECTIONS, name));
  if (values.help === true || !isKnown) {
    (isKnown ? process.stdout : process.stderr).write(USAGE);
    process.exitCode = isKnown ? 0 : 2;
    return;
  }
  const profiles = values.profile === 'distributed' ? PROFILES : (['embedded'] as const);
  const each = async (section: (typeof SECTIONS)[number], measure: (profile: Profile) => Promise<void>) => {
    if (values.only.includes(section)) for (const profile of profiles) await measure(profile);
  };
  await each('service', (profile) => serviceFigures(profile, Number(values.seconds)));
  await each('rows', rowFigures);
  await each('takeover', takeover);
  if (values.only.includes('verify')) await offlineVerify();
  if (values.only.includes('holds')) holds();
};

await main();
