import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runAgs } from '../support/run-ags.js';
import type { RunningService } from '../support/service.js';
import { ClientLog, type Caller } from './client-log.js';
import type { Evidence, Members, ProcessEnd, ToolTerms } from './evidence.js';
import { unlogged } from './invariants/edge.js';
import {
  accessLinesIn,
  asking,
  canariesOf,
  judgedBundles,
  placesOf,
  readEvents,
  rowsBothWays,
  rowsOnce,
  unsealedNow,
  type Query,
} from './gathering.js';
import type { Oracle } from './oracle.js';

/** As test/support/crm.ts configures them. */
const CRM_TOOLS: Readonly<Record<string, ToolTerms>> = {
  'crm.get_customer': { class: 'repeatable', isRead: true },
  'crm.add_note': { class: 'once', isRead: false },
  'crm.delete_customer': { class: 'once', isRead: false },
};

/** What the service needs, for faults to be ordered and recovery to be quick. */
export const CHAOS_SETTINGS: Readonly<Record<string, string>> = {
  SERVICE_FAILPOINTS: 'none',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
  LOG_LEVEL: 'info',
};

export interface SceneOptions {
  /** Of the service's database; stays good across restarts. */
  readonly connectionString: string;
  /** How long the service may take to come to rest. */
  readonly restLimitMs: number;
}

/** A bundle as far as it came. */
export interface Exported {
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

type End = Omit<ProcessEnd, 'isExpected'>;

const POLL_MS = 100;
const SAID_DEADLINE_MS = 10_000;
const SAID_POLL_MS = 5;

/** A service that is made to fail, and everything that is seen of it from outside. */
export class ChaosScene {
  readonly log: ClientLog;
  readonly admin: Caller;
  readonly agents: Caller[];
  private readonly ask: Query;
  private readonly ends: ProcessEnd[] = [];
  private readonly bundles: Exported[] = [];
  private earlierOutput = '';
  private faultsEndedAt = new Date().toISOString();

  constructor(
    readonly service: RunningService,
    readonly oracle: Oracle,
    private readonly options: SceneOptions,
  ) {
    this.log = new ClientLog(service);
    this.ask = asking(options.connectionString);
    this.admin = { name: 'admin', key: service.adminKey };
    this.agents = [{ name: 'agent 1', key: service.agentKey }];
  }

  /** All that the service printed so far. */
  get output(): string {
    return this.earlierOutput + this.service.stdout + this.service.stderr;
  }

  /** Said by whoever orders faults, and when the service is well again after them. */
  markFaults(areUnderWay: boolean): void {
    this.log.isUnderFault = areUnderWay;
    this.faultsEndedAt = new Date().toISOString();
  }

  /** By the command line, as an operator does. */
  async addAgent(name: string): Promise<void> {
    const made = await runAgs(['agents', 'create', name, '--json'], { env: this.service.environment });
    if (made.code !== 0) throw new Error(`an agent could not be made: ${made.stderr}`);
    this.agents.push({ name, key: String(made.object['agent_key']) });
  }

  /** In the place of what was armed before. */
  async arm(orders: string): Promise<void> {
    const saidBefore = this.service.stdout.length;
    await writeFile(join(this.service.stateDir, 'failpoints'), orders);
    process.kill(this.service.pid, 'SIGUSR2');
    await this.said('failpoints are armed', saidBefore);
  }

  /** Waits until the service says it, after so many characters of its output. */
  async said(text: string, after: number): Promise<void> {
    const deadlineMs = performance.now() + SAID_DEADLINE_MS;
    while (!this.service.stdout.slice(after).includes(text)) {
      if (performance.now() > deadlineMs) throw new Error(`the service did not say "${text}":\n${this.service.stdout}`);
      await delay(SAID_POLL_MS);
    }
  }

  /** When it has ended by itself, or by its own hand; null when it does not for half a minute. */
  exited(): Promise<End | null> {
    return this.service.exited().catch(() => null);
  }

  /** Writes down how it ended, and starts it again when nobody waits for an answer any more. */
  async startAgain(end: End, answered: Promise<unknown>): Promise<void> {
    this.ends.push({ ...end, isExpected: end.signal === 'SIGKILL' });
    await answered;
    this.earlierOutput = this.output;
    await this.service.start();
  }

  /** @returns the bundle; null where an envelope came instead */
  async exported(): Promise<Exported | null> {
    const { answer, bytes } = await this.log.call('GET', '/v1/deeds/export', { caller: this.admin });
    if (answer !== null && answer.status !== 200) return null;
    const exported = { bytes, isCut: answer === null };
    this.bundles.push(exported);
    return exported;
  }

  /** Until health is `ok`, or the limit has passed since then. */
  async untilWell(sinceMs: number): Promise<Members> {
    for (;;) {
      const { answer } = await this.log.call('GET', '/v1/health', { caller: null });
      const isOver = performance.now() - sinceMs > this.options.restLimitMs;
      if (answer?.json['status'] === 'ok' || isOver) return answer?.json ?? {};
      await delay(POLL_MS);
    }
  }

  /**
   * Lets it come to rest, and looks at everything.
   * @param isRebuilt whether projections are made anew on the way, which takes a second
   */
  async gather({ isRebuilt }: { isRebuilt: boolean }): Promise<Evidence> {
    const { service, admin, log } = this;
    const rest = await this.rest();
    const lists = await (isRebuilt ? rowsBothWays(service, log, admin) : rowsOnce(log, admin));
    const check = await log.call('GET', '/v1/ledger/check?last=10000', { caller: admin });
    await this.exported();
    const exports = await judgedBundles(this.bundles, service);
    await this.untilLogged();
    const { output } = this;
    const canaries = canariesOf([...this.agents, admin]);
    return {
      org: service.org,
      tools: CRM_TOOLS,
      calls: log.calls,
      upstream: this.oracle.requests,
      events: await readEvents(this.ask),
      exports,
      ledgerCheck: check.answer?.json ?? {},
      ...lists,
      rest,
      accessLines: accessLinesIn(output),
      processEnds: this.ends,
      canaries,
      places: await placesOf(service, { canaries, output, calls: log.calls, bundles: exports }, this.ask),
    };
  }

  /** What a process prints comes a moment after what it answers; a line that does not come is for the checker to find. */
  private async untilLogged(): Promise<void> {
    const deadlineMs = performance.now() + SAID_DEADLINE_MS;
    while (unlogged(this.log.calls, accessLinesIn(this.output)).length > 0 && performance.now() < deadlineMs)
      await delay(SAID_POLL_MS);
  }

  /** All that was accepted sealed, or the limit passed: counted from the last call that could still begin something. */
  private async rest(): Promise<Evidence['rest']> {
    const beganMs = performance.now();
    const { restLimitMs: limitMs } = this.options;
    let unsealed = await unsealedNow(this.ask);
    while (unsealed.length > 0 && performance.now() - beganMs < limitMs) {
      await delay(POLL_MS);
      unsealed = await unsealedNow(this.ask);
    }
    return { faultsEndedAt: this.faultsEndedAt, limitMs, unsealed, health: await this.untilWell(beganMs) };
  }
}
