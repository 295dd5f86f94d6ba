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
  private readonly slots: readonly Slot[];
  private earlierOutput = '';
  private lastBaseUrls: readonly string[] = [];
  private turn = 0;

  private constructor(
    private readonly deployment: DeploymentFolder,
    processesEach: number,
  ) {
    this.slots = PROGRAMS.flatMap((program) =>
      Array.from({ length: processesEach }, (_, index) => ({
        program,
        machine: `${program}-${index + 1}`,
        process: null,
      })),
    );
  }

  /** Prepares the deployment and starts every process. */
  static async start(settings: Readonly<Record<string, string>>, processesEach: number): Promise<ChaosFleet> {
    const fleet = new ChaosFleet(await DeploymentFolder.prepare(settings), processesEach);
    try {
      await fleet.startMissing();
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
    const ofProgram = this.slots.filter(({ program }) => program === victim.program);
    const slots = victim.which === 'all' ? ofProgram : ofProgram.slice(victim.which, victim.which + 1);
    await Promise.all(this.placed.filter(({ slot }) => slots.includes(slot)).map(({ process }) => process.end(signal)));
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
    slot.process = await FleetProcess.start(slot.program, env);
    void slot.process.ended.then((end) => this.ends.push(end));
  }
}

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
