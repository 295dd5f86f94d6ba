import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { OrgId, Position } from '#libs/domain/kernel';
import { parseConfig } from '#libs/infra/config';
import { Deployment } from '#libs/infra/deployment';
import { sealedHeadsPath } from '#libs/infra/ledger';
import { PROJECTION_NAMES } from '#libs/infra/read-models';
import { DeploymentFolder } from '../support/deployment-folder.js';
import { FleetProcess } from '../support/fleet-process.js';
import { callAt, type Answer, type Call } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { fillBigLog } from './big-log.js';
import { openBenchStores, type BenchStores } from './bench-stores.js';
import { absolute, print, say } from './figure.js';
import type { Profile } from './profile.js';

const SIZE = { events: 1_000_000, organizations: 1_000 };
const ROUNDS = 3;
const POLL_MS = 20;
/** Guards against a run that never ends; a figure that long has missed its goal anyway. */
const PATIENCE_MS = 120_000;
const CATCH_UP_PATIENCE_MS = 60 * 60_000;

/** The two programs with a lease, and what shows from outside that a process has it and works. */
const ROLES = [
  { program: 'worker', lease: 'sealer', figure: 'takeover_sealing', isDone: 'isSealed' },
  { program: 'projector', lease: 'projections', figure: 'takeover_projecting', isDone: 'isListed' },
] as const;
type Role = (typeof ROLES)[number];

/** A machine that vanishes says no farewell either, and its connections stay: a stopped process looks the same to all others. */
const ENDINGS = [
  { signal: 'SIGKILL', suffix: '' },
  { signal: 'SIGSTOP', suffix: '_of_vanished' },
] as const;
type Ending = (typeof ENDINGS)[number];

/**
 * How long nobody seals, and nobody projects, after whoever did is gone: until the next deed is sealed, and until the next
 * action stands in the list. On a log of a million events of a thousand organizations, each process with a state directory
 * of its own, as on a machine of its own. The longest of the rounds counts.
 */
export const takeover = async (profile: Profile): Promise<void> => {
  const stores = await openBenchStores(profile);
  try {
    say('preparing a deployment ...');
    const folder = await DeploymentFolder.prepare({ LOG_LEVEL: 'info', ...stores.settings });
    const scene = new TakeoverScene(stores, folder);
    try {
      await scene.prepare();
      for (const ending of ENDINGS) {
        for (const role of ROLES) await measure(scene, role, ending, profile);
      }
    } finally {
      await scene.close();
      await folder.remove();
    }
  } finally {
    await stores.close();
  }
};

const measure = async (scene: TakeoverScene, role: Role, ending: Ending, profile: Profile): Promise<void> => {
  const tookMs: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) tookMs.push(await scene.takeOver(role, ending));
  print(absolute(`${role.figure}${ending.suffix}`, Math.max(...tookMs), 'ms'), profile);
};

/** Two workers, two projectors and an api. The first of each two has its lease. */
class TakeoverScene {
  private readonly processes: Record<Role['program'], FleetProcess[]> = { worker: [], projector: [] };
  private api: FleetProcess | null = null;
  private started = 0;
  private readonly watcher: pg.Client;

  constructor(
    stores: BenchStores,
    private readonly folder: DeploymentFolder,
  ) {
    this.watcher = new pg.Client({ connectionString: stores.connectionString, application_name: 'ags bench' });
  }

  async prepare(): Promise<void> {
    await this.watcher.connect();
    const deployment = await Deployment.open(parseConfig(this.folder.environment), 'ags bench', silentLogger);
    try {
      say(`a log of ${SIZE.events} events of ${SIZE.organizations} organizations ...`);
      await fillBigLog(deployment, this.folder.org as OrgId, SIZE, this.oldHeadsPath);
      await this.startAll(await deployment.database.store.head(), deployment);
    } finally {
      await deployment.close();
    }
  }

  private async startAll(head: Position, deployment: Deployment): Promise<void> {
    say('the first of each program: catching up ...');
    const begun = performance.now();
    for (const { program } of ROLES) await this.startOne(program);
    await caughtUp(deployment, head);
    say(`  caught up after ${seconds(performance.now() - begun)} s; starting the standbys`);
    for (const { program } of ROLES) await this.startOne(program);
    this.api = await FleetProcess.start('api', await this.folder.environmentOf('api'));
    await this.untilDone('isSealed', await this.refuse('bench.first'));
    await this.untilDone('isListed', await this.refuse('bench.second'));
  }

  /** Ends whoever has the lease, and waits until the other one has done its work. Another standby comes in its place. */
  async takeOver({ program, lease, isDone }: Role, { signal }: Ending): Promise<number> {
    const active = this.processes[program].shift();
    if (active === undefined) throw new Error(`no ${program} runs`);
    const holder = await this.holderOf(lease);
    active.signal(signal);
    const begun = performance.now();
    const taken = this.untilOtherHolder(lease, holder).then(() => performance.now() - begun);
    await this.untilDone(isDone, await this.refuse(`bench.round_${this.started}`));
    const tookMs = performance.now() - begun;
    say(`  ${program}, ${signal}: lease after ${seconds(await taken)} s, work after ${seconds(tookMs)} s`);
    await active.end('SIGKILL');
    await this.startOne(program);
    return tookMs;
  }

  async close(): Promise<void> {
    const all = [...Object.values(this.processes).flat(), ...(this.api ? [this.api] : [])];
    await Promise.all(all.map((process) => process.end('SIGKILL')));
    await this.watcher.end();
  }

  private get oldHeadsPath(): string {
    return join(this.folder.path, 'old-sealed-heads');
  }

  /** On a machine that remembers where the ledgers ended when the log had half of its size: it has sealed before. */
  private async startOne(program: Role['program']): Promise<void> {
    this.started += 1;
    const machine = `${program}-${this.started}`;
    const env = await this.folder.environmentOf(machine);
    await copyFile(this.oldHeadsPath, sealedHeadsPath(this.folder.stateDirOf(machine)));
    this.processes[program].push(await FleetProcess.start(program, env));
  }

  /** A refusal is the shortest action that is sealed. Answered when it is, or after ten seconds with 503. @returns its id */
  private async refuse(tool: string): Promise<string> {
    const request = { key: this.folder.agentKey, body: { tool }, headers: { 'Idempotency-Key': tool } };
    for (;;) {
      const { status, error, text } = await this.call('POST', '/v1/actions', request);
      const { id } = (error['action'] ?? {}) as { id?: string };
      if (id !== undefined) return id;
      if (status !== 503) throw new Error(`the refusal of ${tool} named no action: ${text}`);
    }
  }

  private async untilDone(isDone: Role['isDone'], action: string): Promise<void> {
    await until(() => this[isDone](action), PATIENCE_MS, `${action} ${isDone}`);
  }

  private async isSealed(action: string): Promise<boolean> {
    const { json } = await this.call('GET', `/v1/actions/${action}`, { key: this.folder.adminKey });
    return json['state'] === 'sealed';
  }

  private async isListed(action: string): Promise<boolean> {
    const { json } = await this.call('GET', '/v1/actions?tool=bench.*', { key: this.folder.adminKey });
    return (json['data'] as readonly { readonly id: string }[]).some(({ id }) => id === action);
  }

  private call(method: string, path: string, call: Call): Promise<Answer> {
    return callAt(this.api?.baseUrl ?? '', method, path, call);
  }

  private async untilOtherHolder(lease: string, before: string | null): Promise<void> {
    const isOther = async (): Promise<boolean> => ![before, null].includes(await this.holderOf(lease));
    await until(isOther, PATIENCE_MS, `another holder of the lease ${lease}`);
  }

  /** The session that has it; null where nobody has. */
  private async holderOf(lease: string): Promise<string | null> {
    const { rows } = await this.watcher.query<{ pid: string }>(
      `select pid::text from pg_locks where locktype = 'advisory' and granted and objsubid = 1
         and (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)`,
      [`lease:${lease}`],
    );
    return rows[0]?.pid ?? null;
  }
}

/** Everything up to `head` is sealed and projected, and its executions were looked at. */
const caughtUp = async (deployment: Deployment, head: Position): Promise<void> => {
  const { sealerProgress, projectionProgress, openExecutions } = deployment;
  const isSealed = async (): Promise<boolean> => ((await sealerProgress.lowWater())?.position ?? -1n) >= head;
  await Promise.all([
    until(isSealed, CATCH_UP_PATIENCE_MS, 'the sealer to have seen the log'),
    openExecutions.reach(head, CATCH_UP_PATIENCE_MS),
    ...PROJECTION_NAMES.map((name) => projectionProgress.reach(name, head, CATCH_UP_PATIENCE_MS)),
  ]);
};

const until = async (isDone: () => Promise<boolean>, patienceMs: number, what: string): Promise<void> => {
  for (const begun = performance.now(); !(await isDone());) {
    if (performance.now() - begun > patienceMs) throw new Error(`waited in vain: ${what}`);
    await delay(POLL_MS);
  }
};

const seconds = (durationMs: number): string => (durationMs / 1_000).toFixed(1);
