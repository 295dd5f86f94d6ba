import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { connectBenchCrm } from './bench-crm.js';
import { absolute, against, print, say } from './figure.js';
import { holds } from './holds.js';
import { residentBytes } from './memory.js';
import { offlineVerify } from './offline-verify.js';
import { paced, quantile } from './pace.js';
import { LeanClients, leanRequest } from './lean-client.js';
import { listSpeed } from './lists.js';
import { rebuildSpeed } from './rebuild.js';
import { saturation } from './saturation.js';
import { silentLogger } from '../support/silent-logger.js';
import { startService, type RunningService } from '../support/service.js';
import { startUpstream } from '../support/upstream.js';

const PER_SECOND = 50;
const GOALS = { overheadP50: 6, overheadP99: 15, idleMiB: 200, warmStartMs: 3_000 };

/** Submit to sealed as the client sees it, minus the time the upstream took, and single-row commits between them. */
const gateOverhead = async (service: RunningService, seconds: number): Promise<void> => {
  const upstreamMs = new Map<string, number>();
  const upstream = await startUpstream(({ headers }, response) => {
    const begun = performance.now();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}', () => {
      upstreamMs.set(String(headers['service-action-id']), performance.now() - begun);
    });
  });
  await connectBenchCrm(service, upstream.baseUrl);
  // Shared with the running service: the same server, the same disk.
  const server = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
  const client = new pg.Client({ connectionString: server.connectionString('service') });
  await client.connect();
  await client.query('create table if not exists public.bench_commits (id bigserial primary key, note text not null)');
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
    await client.query(`insert into public.bench_commits (note) values ('x')`);
    commits.push(performance.now() - begun);
  });
  await client.query('drop table public.bench_commits');
  await client.end();
  await server.release();
  const commit = quantile(commits, 0.5);
  print(against('gate_overhead_p50', [quantile(overheads, 0.5), commit], 'ms', 'at most', GOALS.overheadP50));
  print(against('gate_overhead_p99', [quantile(overheads, 0.99), commit], 'ms', 'at most', GOALS.overheadP99));
  await saturation(service, seconds);
  await upstream.close();
};

/** A start on a prepared state directory, from the program's first instruction to a healthy answer. */
const warmStart = async (service: RunningService): Promise<void> => {
  const begun = performance.now();
  await service.restart();
  for (;;) {
    const health = await service.call('GET', '/v1/health');
    if (health.status === 200) break;
  }
  print(absolute('warm_start', performance.now() - begun, 'ms', 'at most', GOALS.warmStartMs));
};

/** Of the service's process and its database, each page counted once, after it has been quiet. */
const idleMemory = async (service: RunningService): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const bytes = await residentBytes(service.pid, service.stateDir);
  if (bytes === null) say('idle_memory is skipped: this system has no /proc/<pid>/smaps_rollup');
  else print(absolute('idle_memory', bytes / 1024 / 1024, 'MiB', 'at most', GOALS.idleMiB));
};

/** What needs a running service. */
const serviceFigures = async (seconds: number): Promise<void> => {
  say('starting a scratch service ...');
  const service = await startService({ env: { LOG_LEVEL: 'warn' } });
  try {
    await warmStart(service);
    await idleMemory(service);
    await gateOverhead(service, seconds);
  } finally {
    await service.stop();
  }
};

/** What needs its database alone, and much room in it. */
const rowFigures = async (): Promise<void> => {
  say('starting a scratch service ...');
  const service = await startService({ env: { LOG_LEVEL: 'warn' } });
  try {
    await rebuildSpeed(service.stateDir);
    await listSpeed(service);
  } finally {
    await service.stop();
  }
};

const SECTIONS = ['service', 'rows', 'verify', 'holds'] as const;

const USAGE = `usage: npm run bench -- [--only service|rows|verify|holds] [--seconds 60]
Prints one JSON line a figure; progress on standard error.

  --only     the figures of a running service, those of rebuilding and listing many rows, those of offline verification,
             or how long hostile input holds the event loop; may be repeated
  --seconds  how long the service is loaded
`;

/**
 * `npm run bench`: one JSON line a figure. The limit of a ratio is measured in the same run, so that a slow or busy machine
 * slows both; of times also at the same pace.
 */
const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [...SECTIONS] },
      seconds: { type: 'string', default: '60' },
      help: { type: 'boolean' },
    },
  });
  const isKnown = values.only.every((name) => SECTIONS.some((section) => section === name));
  if (values.help === true || !isKnown) {
    (isKnown ? process.stdout : process.stderr).write(USAGE);
    process.exitCode = isKnown ? 0 : 2;
    return;
  }
  if (values.only.includes('service')) await serviceFigures(Number(values.seconds));
  if (values.only.includes('rows')) await rowFigures();
  if (values.only.includes('verify')) await offlineVerify();
  if (values.only.includes('holds')) holds();
};

await main();
