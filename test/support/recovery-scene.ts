import type { JsonObject } from '#libs/crypto';
import {
  ActionExecutor,
  ExecutionPlaces,
  ExecutionSweeper,
  openExecutionChange,
  OpenExecutions,
  type Action,
  type GateSettings,
  type ListedExecution,
  type LivingAction,
  type OpenExecutionChange,
} from '#libs/domain/gate';
import {
  DamagedEvent,
  decodeEvent,
  START,
  type ActionId,
  type EventStore,
  type JobQueue,
  type Logger,
  type Position,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { InProcessJobQueue } from '#libs/infra/runtime';
import { collectingLogger } from './collecting-logger.js';
import { GateBench, ManualStarter } from './gate-bench.js';
import { HeldBeats } from './held-beats.js';
import { silentLogger } from './silent-logger.js';
import { startUpstream, type Answer, type Upstream } from './upstream.js';

export const SILENCE_MS = 200;
/** Between two turns of a process that beats, looks and sweeps. */
const TURN_MS = 20;
const PATIENCE_MS = 20_000;

const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/customers', args: {} },
  { name: 'update', method: 'POST', path: '/v1/customers', args: {} },
];

/** The fold of the log, made anew at each question. */
export class FoldedOpenExecutions extends OpenExecutions {
  constructor(private readonly bench: GateBench) {
    super();
  }
  override async list(after: Position, limit: number): Promise<readonly ListedExecution[]> {
    const open = new Map<string, ListedExecution>();
    for (const recorded of await this.bench.store.readAll(START, 100_000)) {
      const change = changeIn(recorded);
      if (change?.change === 'open') {
        const action = change.execution.action as ActionId;
        open.set(action, { action, opened: recorded.position });
      }
      if (change?.change === 'close') open.delete(change.action);
    }
    return [...open.values()].filter(({ opened }) => opened > after).slice(0, limit);
  }
  override foldedUpTo(): Promise<Position> {
    return this.bench.store.head();
  }
}

/** As the table does it: an action stays open at an event that cannot be read. */
const changeIn = (recorded: RecordedEvent): OpenExecutionChange | null => {
  try {
    return openExecutionChange(decodeEvent(recorded).event);
  } catch (error) {
    if (error instanceof DamagedEvent) return null;
    throw error;
  }
};

export interface SceneOptions {
  readonly answer?: Answer;
  readonly store?: EventStore;
  /** Of the connector `crm`, beside what every scene has. */
  readonly config?: JsonObject;
  readonly settings?: Partial<GateSettings>;
}

/** A gate with an upstream, and another process that sweeps what executors of the gate leave behind. */
export class RecoveryScene {
  readonly beats = new HeldBeats();
  readonly queue: JobQueue = new InProcessJobQueue(silentLogger);
  readonly logger = collectingLogger();
  /** What the executor of the process that sweeps says. */
  readonly rescuerLogger = collectingLogger();
  /** Of the process that sweeps. */
  readonly rescuer: ActionExecutor;
  readonly sweeper: ExecutionSweeper;

  private constructor(
    readonly bench: GateBench,
    readonly upstream: Upstream,
  ) {
    this.rescuer = this.executorNamed('exe_rescuer', this.rescuerLogger);
    this.queue.process('execute', 4, async (id) => {
      await this.rescuer.claimAndRun(id as ActionId, null);
    });
    this.sweeper = this.sweeperOf(this.rescuer);
  }

  static async set({ answer, store, config, settings }: SceneOptions = {}): Promise<RecoveryScene> {
    const upstream = await startUpstream(answer);
    const bench = new GateBench(store ?? new MemoryEventStore(), { executorSilenceMs: SILENCE_MS, ...settings });
    return new RecoveryScene(await bench.prepare(upstream.baseUrl, TOOLS, config), upstream);
  }

  executorNamed(name: string, logger: Logger = silentLogger): ActionExecutor {
    const { gate, payloads, bus } = this.bench;
    return new ActionExecutor(gate, name, payloads, bus, logger);
  }

  sweeperOf(executor: ActionExecutor): ExecutionSweeper {
    const runs = { executor, places: new ExecutionPlaces(executor, this.logger) };
    return new ExecutionSweeper(this.bench.gate, new FoldedOpenExecutions(this.bench), this.beats, runs, this.logger);
  }

  /** Accepted and claimed by a process that is then gone, before it sent anything. */
  async lose(tool: string): Promise<ActionId> {
    const { action } = await this.bench.submit({ tool }, this.bench.handler(new ManualStarter('exe_lost', null)));
    return action;
  }

  /** One turn of a living process: it beats, looks at the others' beats, and sweeps. */
  async turn(sweeper = this.sweeper, living: readonly string[] = ['exe_rescuer']): Promise<void> {
    for (const executor of living) await this.beats.beat(executor);
    await sweeper.observe();
    await sweeper.sweep();
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }

  /** Turns of a living process for as long as that takes. */
  async turnFor(durationMs: number, sweeper = this.sweeper, living?: readonly string[]): Promise<void> {
    const until = performance.now() + durationMs;
    while (performance.now() < until) await this.turn(sweeper, living);
  }

  async sweepUntil(isOver: (action: Action) => boolean, id: ActionId): Promise<LivingAction> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      await this.turn();
      const action = await this.bench.action(id);
      if (isOver(action)) return action as LivingAction;
      if (performance.now() > deadline) throw new Error('the sweeper did not get there');
    }
  }

  async close(): Promise<void> {
    this.bench.close();
    await this.upstream.close();
  }
}

export const isRecorded = (action: Action): boolean => action.state === 'recorded';
