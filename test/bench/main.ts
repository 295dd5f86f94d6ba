import { parseArgs } from 'node:util';
import { startBenchService, type BenchService } from './bench-service.js';
import { checkpointSpeed } from './checkpoints.js';
import { machineClass, record } from './documented-figures.js';
import { absolute, measured, print, say } from './figure.js';
import { gateOverhead } from './gate-overhead.js';
import { governedCalls } from './governed-calls.js';
import { holds } from './holds.js';
import { offlineVerify } from './offline-verify.js';
import { listSpeed } from './lists.js';
import { mcpCalls } from './mcp-calls.js';
import { overviewSpeed } from './overview.js';
import { residentBytes } from './processes.js';
import { PROFILES, type Profile } from './profile.js';
import { rebuildSpeed } from './rebuild.js';
import { replaySpeed } from './replays.js';
import { signInTiming } from './sign-in.js';
import { streamLoad } from './streams.js';
import { takeover } from './takeover.js';
import { decoderSpeed, witnessDelay } from './witnessed-writes.js';

const MIB = 1024 * 1024;

/** A start on a prepared state directory, from the program's first instruction to a healthy answer. */
const warmStart = async (service: BenchService): Promise<void> => {
  const begun = performance.now();
  await service.restart();
  for (;;) {
    const health = await service.call('GET', '/v1/health');
    if (health.status === 200) break;
  }
  print(absolute('warm_start', performance.now() - begun, 'ms'), service.profile);
};

/** Of the service's processes and their stores, each page counted once, after they have been quiet. */
const idleMemory = async (service: BenchService): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const sizes = await residentBytes(service.processes);
  if (sizes === null) return say('idle_memory is skipped: this system has no /proc/<pid>/smaps_rollup');
  say(sizes.map(({ name, bytes }) => `${name} ${(bytes / MIB).toFixed(0)} MiB`).join(', '));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  print(absolute('idle_memory', total / MIB, 'MiB'), service.profile);
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
  await onScratchService(profile, overviewSpeed);
};

const SECTIONS = [
  'service',
  'governed',
  'mcp',
  'database',
  'rows',
  'takeover',
  'verify',
  'holds',
  'sign-in',
  'replay',
  'streams',
  'checkpoints',
] as const;

const USAGE = `usage: npm run bench -- [--profile embedded|distributed] [--only service|governed|mcp|database|rows|takeover|verify|holds|sign-in|replay|streams|checkpoints] [--seconds 60] [--record]
Prints one JSON line a figure; progress on standard error.

  --profile  distributed: each figure of a deployment twice, of one process with its own PostgreSQL (embedded, which is
             all that is measured unless this is said), and of an api, a worker and a projector on PostgreSQL, on the
             KurrentDB that KURRENTDB_PROGRAM names, and on the redis-server of this machine; what is missing is said
  --only     the figures of a running service, what a signed intent, a budget and a version in shadow add to a call, what a
             call through the MCP door takes beside the same by POST /v1/actions, how soon a change log confirms a write and how
             fast it is read, those of rebuilding, listing and summing up
             many rows, how long nobody seals or projects when whoever did is gone, those of offline verification, how long
             hostile input holds the event loop, whether the time of a sign-in request tells who is known, how fast past
             actions are replayed, what 200 event streams cost, or how fast the root of a ledger is signed; may be repeated
  --seconds  how long the service is loaded
  --record   keeps the figures of the embedded profile in docs/performance.json, and in the table of docs/performance.md
`;

const isOneOf = <Name extends string>(names: readonly Name[], given: string): given is Name =>
  names.some((name) => name === given);

/** @returns what is wrong with them, where something is */
const given = () => {
  const values = parsed();
  if (typeof values === 'string' || values.help === true) return values;
  if (!isOneOf(PROFILES, values.profile)) return `--profile is one of ${PROFILES.join(', ')}, not "${values.profile}"`;
  const other = values.only.find((name) => !isOneOf(SECTIONS, name));
  if (other !== undefined) return `--only is one of ${SECTIONS.join(', ')}, not "${other}"`;
  if (!/^[1-9]\d{0,4}$/.test(values.seconds)) return `--seconds is a whole number from 1 on, not "${values.seconds}"`;
  return values;
};

const parsed = () => {
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'embedded' },
        only: { type: 'string', multiple: true, default: [...SECTIONS] },
        seconds: { type: 'string', default: '60' },
        record: { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    });
    return values;
  } catch (error) {
    // Its first sentence; the others speak of arguments that begin with a dash.
    return (error as Error).message.split('. ')[0] ?? '';
  }
};

/**
 * `npm run bench`: one JSON line a figure. The limit of a ratio is measured in the same run, so that a slow or busy machine
 * slows both; of times also at the same pace.
 */
const main = async (): Promise<void> => {
  const values = given();
  if (typeof values === 'string') {
    process.stderr.write(`${values}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const machine = values.record ? machineClass() : null;
  const profiles = values.profile === 'distributed' ? PROFILES : (['embedded'] as const);
  const each = async (section: (typeof SECTIONS)[number], measure: (profile: Profile) => Promise<void>) => {
    if (values.only.includes(section)) for (const profile of profiles) await measure(profile);
  };
  await each('service', (profile) => serviceFigures(profile, Number(values.seconds)));
  await each('governed', (profile) =>
    onScratchService(profile, (service) => governedCalls(service, Number(values.seconds))),
  );
  await each('mcp', (profile) => onScratchService(profile, (service) => mcpCalls(service, Number(values.seconds))));
  await each('database', (profile) =>
    onScratchService(profile, (service) => witnessDelay(service, Number(values.seconds))),
  );
  if (values.only.includes('database')) await decoderSpeed();
  await each('rows', rowFigures);
  await each('takeover', takeover);
  if (values.only.includes('verify')) await offlineVerify();
  if (values.only.includes('holds')) holds();
  if (values.only.includes('sign-in')) await signInTiming();
  if (values.only.includes('replay')) await replaySpeed();
  if (values.only.includes('streams')) await streamLoad(Number(values.seconds));
  await each('checkpoints', checkpointSpeed);
  if (machine !== null) record(measured(), machine);
};

await main();
