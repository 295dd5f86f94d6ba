import { DeploymentFolder } from '../support/deployment-folder.js';
import { FleetProcess, type ProgramName } from '../support/fleet-process.js';
import { callAt, type Answer, type Call } from '../support/service.js';
import type { ChaosProcess, ChaosTarget, EndedProcess, Victim } from './chaos-target.js';

const PROGRAMS = ['projector', 'worker', 'api'] as const satisfies readonly ProgramName[];

/** Where a process of a program has its place, as on a machine of its own: it keeps its state directory. */
interface Slot {
  readonly program: ProgramName;
  readonly machine: string;
  process: FleetProcess | null;
}

interface Placed {
  readonly slot: Slot;
  readonly process: FleetProcess;
  readonly stateDir: string;
}

/** So many of each program on the same stores, each with a state directory of its own; they share the key files alone. */
export class ChaosFleet implements ChaosTarget {
  readonly ends: EndedProcess[] = [];
  killedByHand = 0;
  private readonly slots: Slot[] = [];
  private earlierOutput = '';
  private lastBaseUrls: readonly string[] = [];
  private turn = 0;

  private constructor(private readonly deployment: DeploymentFolder) {}

  /** Prepares the deployment and starts every process. */
  static async start(settings: Readonly<Record<string, string>>, processesEach: number): Promise<ChaosFleet> {
    const fleet = new ChaosFleet(await DeploymentFolder.prepare(settings));
    try {
      await fleet.growTo(processesEach);
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  /** Every state directory is in it. */
  get folder(): string {
    return this.deployment.path;
  }
  get org(): string {
    return this.deployment.org;
  }
  get adminKey(): string {
    return this.deployment.adminKey;
  }
  get agentKey(): string {
    return this.deployment.agentKey;
  }
  get pin(): string {
    return this.deployment.pin;
  }
  get environment(): NodeJS.ProcessEnv {
    return this.deployment.environment;
  }
  /** A balancer that asks nobody: a call that is under way when its api dies is lost. */
  get baseUrls(): readonly string[] {
    const urls = this.placed.map(({ process }) => process.baseUrl).filter((url) => url !== '');
    if (urls.length > 0) this.lastBaseUrls = urls;
    return this.lastBaseUrls;
  }
  get processes(): readonly ChaosProcess[] {
    return this.placed.map(({ process, stateDir }) => new PlacedProcess(process, stateDir));
  }
  get output(): string {
    return [this.earlierOutput, ...this.slots.map(({ process }) => process?.output ?? '')].join('\n');
  }

  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { baseUrls } = this;
    this.turn += 1;
    return callAt(baseUrls[this.turn % baseUrls.length] ?? '', method, path, call);
  }

  async kill(signal: 'SIGKILL', victim: Victim): Promise<void> {
    const victims = this.those(victim);
    this.killedByHand += victims.length;
    await Promise.all(victims.map(({ process }) => process.end(signal)));
  }

  /** They stand still, with all their connections, until `SIGCONT`. */
  signal(signal: 'SIGSTOP' | 'SIGCONT', victim: Victim): void {
    for (const { process } of this.those(victim)) process.signal(signal);
  }

  /** So many of each program. One after the other: they share the machine. */
  async growTo(processesEach: number): Promise<void> {
    for (const program of PROGRAMS) {
      for (let count = this.ofProgram(program).length + 1; count <= processesEach; count += 1) {
        this.slots.push({ program, machine: `${program}-${count}`, process: null });
        await this.startMissing();
      }
    }
  }

  async exited(): Promise<void> {
    await Promise.race(this.placed.map(({ process }) => process.ended));
  }

  async startMissing(): Promise<void> {
    const missing = this.slots.filter(({ process }) => process?.isRunning !== true);
    await Promise.all(missing.map((slot) => this.startIn(slot)));
  }

  /** As an operator would, and removes their state directories. */
  async stop(): Promise<void> {
    await Promise.all(this.placed.map(({ process }) => process.end('SIGTERM')));
    await this.deployment.remove();
  }

  private ofProgram(program: ProgramName): readonly Slot[] {
    return this.slots.filter((slot) => slot.program === program);
  }

  /** Of those, which run. */
  private those({ program, which }: Victim): readonly Placed[] {
    const slots = this.ofProgram(program);
    const chosen = which === 'all' ? slots : slots.slice(which, which + 1);
    return this.placed.filter(({ slot }) => chosen.includes(slot));
  }

  /** What runs, and where. */
  private get placed(): readonly Placed[] {
    return this.slots.flatMap((slot) => {
      const { process, machine } = slot;
      return process?.isRunning === true ? [{ slot, process, stateDir: this.deployment.stateDirOf(machine) }] : [];
    });
  }

  private async startIn(slot: Slot): Promise<void> {
    if (slot.process !== null) this.earlierOutput += `${slot.process.output}\n`;
    slot.process = null;
    const env = await this.deployment.environmentOf(slot.machine);
    slot.process = await supervised(() => FleetProcess.start(slot.program, env));
    void slot.process.ended.then((end) => this.ends.push(end));
  }
}

const START_TRIES = 3;

/** A program that cannot reach its stores in time says so and ends: on a machine that is busy, whoever runs it tries again. */
const supervised = async (start: () => Promise<FleetProcess>): Promise<FleetProcess> => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await start();
    } catch (error) {
      const isForNow = error instanceof Error && /cannot be used: .*timeout/.test(error.message);
      if (!isForNow || tried === START_TRIES) throw error;
    }
  }
};

class PlacedProcess implements ChaosProcess {
  constructor(
    private readonly process: FleetProcess,
    readonly stateDir: string,
  ) {}
  get pid(): number {
    return this.process.pid;
  }
  get isRunning(): boolean {
    return this.process.isRunning;
  }
  get stdout(): string {
    return this.process.stdout;
  }
}
