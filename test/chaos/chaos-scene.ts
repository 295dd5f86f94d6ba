import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventStorePlace } from '#libs/infra/event-store';
import { runAgs } from '../support/run-ags.js';
import type { ChaosProcess, ChaosTarget } from './chaos-target.js';
import { ClientLog, type Caller } from './client-log.js';
import type { Evidence, Members, ToolTerms } from './evidence.js';
import { unlogged } from './invariants/edge.js';
import { undelivered } from './invariants/told.js';
import {
  accessLinesIn,
  asking,
  canariesOf,
  judgedBundles,
  judgedEnds,
  placesOf,
  rowsBothWays,
  rowsOnce,
  type Query,
} from './gathering.js';
import type { Listeners } from './listeners.js';
import { LogReader } from './log-reader.js';
import type { Oracle } from './oracle.js';

/** As test/support/crm.ts configures them. */
const CRM_TOOLS: Readonly<Record<string, ToolTerms>> = {
  'crm.get_customer': { class: 'repeatable', isRead: true, isKeyed: false },
  'crm.add_note': { class: 'once', isRead: false, isKeyed: false },
  'crm.set_name': { class: 'repeatable', isRead: false, isKeyed: true },
  'crm.set_status': { class: 'once', isRead: false, isKeyed: false },
  'crm.check_customer': { class: 'once', isRead: false, isKeyed: false },
  'crm.delete_customer': { class: 'once', isRead: false, isKeyed: false },
};

/** What the service needs, for faults to be ordered; all else is as it ships. */
export const ORDERED_SETTINGS: Readonly<Record<string, string>> = { SERVICE_FAILPOINTS: 'none', LOG_LEVEL: 'info' };

/** For recovery to be quick besides. */
export const CHAOS_SETTINGS: Readonly<Record<string, string>> = {
  ...ORDERED_SETTINGS,
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
};

/** Of several processes: a busy machine must not let one take another for dead that only waits its turn. */
export const FLEET_SETTINGS: Readonly<Record<string, string>> = {
  ...CHAOS_SETTINGS,
  SERVICE_EXECUTOR_SILENCE_MS: '3000',
};

/**
 * INV-16, two sweeps of 5 s and some slack: how long a service may take to come to rest, at the settings that it ships with.
 * Where sweeps are shorter, several processes share the machine.
 */
export const REST_LIMIT_MS = 12_000;

export interface SceneOptions {
  /** Of the service's log and database; stays good across restarts. */
  readonly place: EventStorePlace;
  /** Whose files are searched for secrets. */
  readonly folders: readonly string[];
  /** How long the service may take to come to rest. */
  readonly restLimitMs: number;
  /** Whom it tells what happens; nobody unless given. */
  readonly listeners?: Listeners;
  /** How long no delivery may arrive while some are due; as long as a kill and a failed attempt together unless given. */
  readonly toldLimitMs?: number;
}

/** A bundle as far as it came. */
export interface Exported {
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** When faults ended, and how long the service took to be well. */
type Recovery = Pick<Evidence['rest'], 'faultsEndedAt' | 'wellAfterMs'>;

const KILLED_ITSELF = /\bfailpoint=\S+ action=kill\b/g;
const POLL_MS = 100;
const SAID_DEADLINE_MS = 10_000;
const SAID_POLL_MS = 5;
/** A delivery whose process was killed is taken up 30 s later, and one that failed once 36 s later at the latest. */
const TOLD_LIMIT_MS = 150_000;
const NOBODY_LISTENS: Evidence['told'] = { webhooks: [], arrivals: [], streams: [] };

/** A service that is made to fail, and everything that is seen of it from outside. */
export class ChaosScene<Target extends ChaosTarget = ChaosTarget> {
  readonly log: ClientLog;
  readonly admin: Caller;
  readonly agents: Caller[];
  private readonly ask: Query;
  private readonly bundles: Exported[] = [];
  private recovery: Recovery = { faultsEndedAt: new Date().toISOString(), wellAfterMs: 0 };

  constructor(
    readonly service: Target,
    readonly oracle: Oracle,
    private readonly options: SceneOptions,
  ) {
    this.log = new ClientLog(service);
    this.ask = asking(options.place.connectionString);
    this.admin = { name: 'admin', key: service.adminKey };
    this.agents = [{ name: 'agent 1', key: service.agentKey }];
  }

  /** Said by whoever orders faults: whether calls may meet one. */
  markFaults(areUnderWay: boolean): void {
    this.log.isUnderFault = areUnderWay;
    if (this.options.listeners) this.options.listeners.isUnderFault = areUnderWay;
  }

  /**
   * Nothing is wrong any more since then; from here on INV-16 counts. Resolves when the service is well, or the limit has passed.
   * @param endedMs monotonic
   * @returns how long it took
   */
  async recovered(endedMs: number): Promise<number> {
    const faultsEndedAt = new Date(Date.now() - (performance.now() - endedMs)).toISOString();
    await this.untilWell(endedMs);
    const wellAfterMs = Math.round(performance.now() - endedMs);
    this.recovery = { faultsEndedAt, wellAfterMs };
    return wellAfterMs;
  }

  /**
   * Has the ledger signed once, before anything fails: the first checkpoint is the only one that a deed tells of, and the
   * worker would make it a minute after its start, when the run may be judged already. A ledger that a planted bug has
   * broken by then is never signed, and tells of nothing.
   */
  async signLedger({ mayBeBroken = false } = {}): Promise<void> {
    const deadlineMs = performance.now() + SAID_DEADLINE_MS;
    for (;;) {
      const { answer } = await this.log.call('POST', '/v1/ledger/checkpoint', { caller: this.admin });
      if (answer?.status === 200 || (mayBeBroken && answer?.body.includes('"ledger_inconsistent"'))) return;
      // Before its first deed is sealed there is nothing to sign.
      if (answer?.status !== 409 || performance.now() > deadlineMs)
        throw new Error(`the ledger could not be signed: ${answer?.body ?? 'no answer'}`);
      await delay(POLL_MS);
    }
  }

  /** By the command line, as an operator does. */
  async addAgent(name: string): Promise<void> {
    const made = await runAgs(['agents', 'create', name, '--json'], { env: this.service.environment });
    if (made.code !== 0) throw new Error(`an agent could not be made: ${made.stderr}`);
    this.agents.push({ name, key: String(made.object['agent_key']) });
  }

  /** In the place of what was armed before, in every process. One that ends meanwhile is started again. */
  async arm(orders: string): Promise<void> {
    for (let areAllArmed = false; !areAllArmed;) {
      await this.service.startMissing();
      const armed = await Promise.all(this.service.processes.map((process) => this.armOne(process, orders)));
      areAllArmed = armed.every((isArmed) => isArmed);
    }
  }

  /** @returns false where it has ended */
  private async armOne(armed: ChaosProcess, orders: string): Promise<boolean> {
    const saidBefore = armed.stdout.length;
    await writeFile(join(armed.stateDir, 'failpoints'), orders);
    if (!armed.isRunning) return false;
    process.kill(armed.pid, 'SIGUSR2');
    return this.said(armed, 'failpoints are armed', saidBefore);
  }

  /**
   * Waits until a process says it, after so many characters of its output.
   * @returns false where it has ended without
   */
  async said(speaker: ChaosProcess, text: string, after: number): Promise<boolean> {
    const deadlineMs = performance.now() + SAID_DEADLINE_MS;
    while (!speaker.stdout.slice(after).includes(text)) {
      if (!speaker.isRunning) return false;
      if (performance.now() > deadlineMs) throw new Error(`the service did not say "${text}":\n${speaker.stdout}`);
      await delay(SAID_POLL_MS);
    }
    return true;
  }

  /** When a process has ended by itself, or by its own hand; null when none does for half a minute. */
  exited(): Promise<unknown> {
    return this.service.exited().catch(() => null);
  }

  /**
   * Starts again what has ended: at once where others go on, and where there are none, when nobody waits for an answer any
   * more.
   */
  async startAgain(answered: Promise<unknown>): Promise<void> {
    if (this.service.processes.length === 0) await answered;
    await this.service.startMissing();
    await answered;
  }

  /** @returns the bundle; null where an envelope came instead */
  async exported(): Promise<Exported | null> {
    const { answer, bytes } = await this.log.call('GET', '/v1/deeds/export', { caller: this.admin });
    if (answer !== null && answer.status !== 200) return null;
    const exported = { bytes, isCut: answer === null };
    this.bundles.push(exported);
    return exported;
  }

  /** Until health is `ok` everywhere, or the limit has passed since then. */
  async untilWell(sinceMs: number): Promise<Members> {
    for (;;) {
      const answers = await Promise.all(
        this.service.baseUrls.map(() => this.log.call('GET', '/v1/health', { caller: null })),
      );
      const healths = answers.map(({ answer }) => answer?.json ?? {});
      const unwell = healths.find(({ status }) => status !== 'ok');
      const isOver = performance.now() - sinceMs > this.options.restLimitMs;
      if (unwell === undefined || isOver) return unwell ?? healths[0] ?? {};
      await delay(POLL_MS);
    }
  }

  /**
   * Lets it come to rest, and looks at everything.
   * @param isRebuilt whether projections are made anew on the way, which takes a second
   */
  async gather({ isRebuilt }: { isRebuilt: boolean }): Promise<Evidence> {
    const events = new LogReader(this.options.place);
    try {
      return await this.gatherFrom(events, isRebuilt);
    } finally {
      await events.close();
    }
  }

  private async gatherFrom(reader: LogReader, isRebuilt: boolean): Promise<Evidence> {
    const { service, admin, log } = this;
    const rest = await this.rest(reader);
    const lists = await (isRebuilt ? rowsBothWays(service, log, admin) : rowsOnce(log, admin));
    const check = await log.call('GET', '/v1/ledger/check?last=10000', { caller: admin });
    await this.exported();
    const bundles = await judgedBundles(this.bundles, service);
    await this.untilLogged();
    // Those who listen go on listening: what they hear from here on may be newer than the log that is read.
    const told = structuredClone(await this.untilTold(reader));
    const { output, ends } = service;
    const events = await reader.events();
    const canaries = await canariesOf([...this.agents, admin], told.webhooks, service);
    const found = { canaries, output, calls: log.calls, bundles, events, heard: this.options.listeners?.heard ?? '' };
    return {
      org: service.org,
      tools: CRM_TOOLS,
      calls: log.calls,
      upstream: this.oracle.requests,
      events,
      told,
      exports: bundles,
      ledgerCheck: check.answer?.json ?? {},
      ...lists,
      rest,
      accessLines: accessLinesIn(output),
      processEnds: judgedEnds(ends, service.killedByHand + [...output.matchAll(KILLED_ITSELF)].length),
      canaries,
      places: await placesOf(found, this.options.folders, this.ask),
    };
  }

  /** What a process prints comes a moment after what it answers; a line that does not come is for the checker to find. */
  private async untilLogged(): Promise<void> {
    const deadlineMs = performance.now() + SAID_DEADLINE_MS;
    while (unlogged(this.log.calls, accessLinesIn(this.service.output)).length > 0 && performance.now() < deadlineMs)
      await delay(SAID_POLL_MS);
  }

  /**
   * Every event has reached every webhook, or none arrives any more; what never arrives is for the checker to find. Kills let
   * thousands pile up, and a busy machine takes minutes for them: what counts is that it goes on.
   */
  private async untilTold(reader: LogReader): Promise<Evidence['told']> {
    const { listeners, toldLimitMs = TOLD_LIMIT_MS } = this.options;
    if (listeners === undefined) return NOBODY_LISTENS;
    let fewest = Infinity;
    let deadlineMs = 0;
    for (;;) {
      const { told } = listeners;
      const open = undelivered({ events: await reader.events(), told }).length;
      if (open < fewest) deadlineMs = performance.now() + toldLimitMs;
      fewest = Math.min(fewest, open);
      if (open === 0 || performance.now() > deadlineMs) return told;
      await delay(POLL_MS);
    }
  }

  /** All that was accepted sealed, or the limit passed: counted from the last call that could still begin something. */
  private async rest(reader: LogReader): Promise<Evidence['rest']> {
    const { restLimitMs: limitMs } = this.options;
    const beganMs = performance.now();
    let unsealed = await reader.unsealed();
    while (unsealed.length > 0 && performance.now() - beganMs < limitMs) {
      await delay(POLL_MS);
      unsealed = await reader.unsealed();
    }
    return { ...this.recovery, limitMs, unsealed, health: await this.untilWell(beganMs) };
  }
}
