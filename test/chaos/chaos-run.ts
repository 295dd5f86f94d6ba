import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectCrm } from '../support/crm.js';
import { postmasterPidIn } from '../support/own-server.js';
import { runAgs } from '../support/run-ags.js';
import type { RunningService } from '../support/service.js';
import { ClientLog, type Caller } from './client-log.js';
import type { Evidence, Members, ProcessEnd } from './evidence.js';
import { killText, type Kill, type RoundPlan } from './faults.js';
import {
  accessLinesIn,
  asking,
  canariesOf,
  judgedBundles,
  placesOf,
  readEvents,
  rowsBothWays,
  unsealedNow,
  type Query,
} from './gathering.js';
import { startOracle, type Oracle } from './oracle.js';
import { chanceOf, type Chance } from './random.js';
import { CRM_TOOLS, Traffic } from './traffic.js';

export interface ChaosOptions {
  readonly seed: number;
  /** A round each; none: one round without any fault. */
  readonly plans: readonly RoundPlan[];
  readonly callsPerRound: number;
  /** Agents beside the first, each made by the command line. */
  readonly moreAgents: number;
  /** Of the service's database; stays good across restarts. */
  readonly connectionString: string;
  /** How long the service may take to come to rest. */
  readonly restLimitMs: number;
  readonly onProgress?: (progress: ChaosProgress) => void;
}

export interface ChaosProgress {
  readonly kills: number;
  readonly of: number;
  readonly submitted: number;
  readonly doing: string;
}

/** How often each kind of kill met the service, to tell a run that saw little from one that saw nothing wrong. */
export interface Coverage {
  readonly kills: Readonly<Record<string, number>>;
  /** Ordered at a failpoint that the round did not come to: killed by hand instead. */
  readonly missed: number;
  /** Failpoints that acted, by action. */
  readonly acted: Readonly<Record<string, number>>;
}

export interface ChaosResult {
  readonly evidence: Evidence;
  readonly coverage: Coverage;
  /** All that the service printed. */
  readonly output: string;
}

/** What the service needs, for faults to be ordered and recovery to be quick. */
export const CHAOS_SETTINGS: Readonly<Record<string, string>> = {
  SERVICE_FAILPOINTS: 'none',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
  LOG_LEVEL: 'info',
};

const POLL_MS = 100;
/** A round that does not come to its failpoint is ended by hand. */
const MISSED_AFTER_MS = 3_000;
const ARMED_DEADLINE_MS = 10_000;
const ACTED = /\bfailpoint=(\S+) action=(\S+)/g;

/** Drives a service that runs, through faults or none, and gathers what happened. The service is left running. */
export const runChaos = async (service: RunningService, options: ChaosOptions): Promise<ChaosResult> => {
  const oracle = await startOracle();
  try {
    await connectCrm(service, oracle.baseUrl);
    return await new ChaosRun(service, oracle, options).run();
  } finally {
    await oracle.close();
  }
};

class ChaosRun {
  private readonly chance: Chance;
  private readonly log: ClientLog;
  private readonly ask: Query;
  private readonly ends: ProcessEnd[] = [];
  private readonly counted = new Map<string, number>();
  private output = '';
  private missed = 0;

  constructor(
    private readonly service: RunningService,
    private readonly oracle: Oracle,
    private readonly options: ChaosOptions,
  ) {
    this.chance = chanceOf(options.seed);
    this.log = new ClientLog(service);
    this.ask = asking(options.connectionString);
  }

  async run(): Promise<ChaosResult> {
    const admin: Caller = { name: 'admin', key: this.service.adminKey };
    const agents = [{ name: 'agent 1', key: this.service.agentKey }, ...(await this.furtherAgents())];
    const traffic = new Traffic(this.log, this.chance, agents, admin);
    const { plans, callsPerRound } = this.options;
    for (const [killed, plan] of plans.entries()) {
      this.progress(killed, traffic, `kill ${killText(plan.kill)}`);
      await this.round(plan, () => traffic.round(callsPerRound));
    }
    this.progress(plans.length, traffic, 'letting it come to rest');
    if (plans.length > 0) await this.arm('none');
    const endedMs = performance.now();
    await this.untilWell(endedMs);
    this.log.isUnderFault = false;
    if (plans.length === 0) await traffic.round(callsPerRound);
    await traffic.settle();
    return this.gather(traffic, { agents, admin });
  }

  private async furtherAgents(): Promise<readonly Caller[]> {
    const callers: Caller[] = [];
    for (let number = 2; number <= this.options.moreAgents + 1; number += 1) {
      const name = `agent ${number}`;
      const made = await runAgs(['agents', 'create', name, '--json'], { env: this.service.environment });
      if (made.code !== 0) throw new Error(`an agent could not be made: ${made.stderr}`);
      callers.push({ name, key: String(made.object['agent_key']) });
    }
    return callers;
  }

  private async round({ kill, orders }: RoundPlan, traffic: () => Promise<void>): Promise<void> {
    this.log.isUnderFault = true;
    this.counted.set(kill.kind, (this.counted.get(kill.kind) ?? 0) + 1);
    const own = kill.kind === 'failpoint' ? [`${kill.point}=kill@${kill.atHit}`] : [];
    await this.arm([...own, ...orders].join(',') || 'none');
    const exited = this.service.exited().catch(() => null);
    const sent = traffic();
    if (kill.kind === 'database') {
      await delay(kill.afterMs);
      process.kill(postmasterPidIn(this.service.stateDir), 'SIGKILL');
      await sent;
      return;
    }
    const end = await this.ended(kill, exited, sent);
    this.ends.push({ ...end, isExpected: end.signal === 'SIGKILL' });
    await sent;
    this.output += this.service.stdout + this.service.stderr;
    await this.service.start();
  }

  private async ended(
    kill: Exclude<Kill, { kind: 'database' }>,
    exited: Promise<Omit<ProcessEnd, 'isExpected'> | null>,
    sent: Promise<void>,
  ): Promise<Omit<ProcessEnd, 'isExpected'>> {
    if (kill.kind === 'moment') await Promise.race([delay(kill.afterMs), exited]);
    if (kill.kind === 'execution') {
      await Promise.race([this.oracle.holdNextWrite(), delay(MISSED_AFTER_MS), exited]);
      this.oracle.holdNothing();
    }
    if (kill.kind === 'failpoint') {
      const patience = Promise.race([delay(MISSED_AFTER_MS), sent.then(() => delay(POLL_MS))]);
      const end = await Promise.race([exited, patience.then(() => null)]);
      if (end !== null) return end;
      this.missed += 1;
    }
    return this.service.kill('SIGKILL');
  }

  /** In the place of what was armed before. Waits for the service to say so. */
  private async arm(orders: string): Promise<void> {
    const saidBefore = this.service.stdout.length;
    await writeFile(join(this.service.stateDir, 'failpoints'), orders);
    process.kill(this.service.pid, 'SIGUSR2');
    const deadlineMs = performance.now() + ARMED_DEADLINE_MS;
    while (!this.service.stdout.slice(saidBefore).includes('failpoints are armed')) {
      if (performance.now() > deadlineMs) throw new Error(`the service did not arm ${orders}:\n${this.service.stdout}`);
      await delay(5);
    }
  }

  private async untilWell(endedMs: number): Promise<Members> {
    for (;;) {
      const { answer } = await this.log.call('GET', '/v1/health', { caller: null });
      const isOver = performance.now() - endedMs > this.options.restLimitMs;
      if (answer?.json['status'] === 'ok' || isOver) return answer?.json ?? {};
      await delay(POLL_MS);
    }
  }

  /** All that was accepted sealed, or the limit passed: counted from the last call that could still begin something. */
  private async rest(): Promise<Evidence['rest']> {
    const endedMs = performance.now();
    const { restLimitMs: limitMs } = this.options;
    let unsealed = await unsealedNow(this.ask);
    while (unsealed.length > 0 && performance.now() - endedMs < limitMs) {
      await delay(POLL_MS);
      unsealed = await unsealedNow(this.ask);
    }
    return { limitMs, unsealed, health: await this.untilWell(endedMs) };
  }

  private async gather(
    traffic: Traffic,
    { agents, admin }: { agents: readonly Caller[]; admin: Caller },
  ): Promise<ChaosResult> {
    const { service, options } = this;
    const rest = await this.rest();
    this.progress(options.plans.length, traffic, 'making projections anew');
    const lists = await rowsBothWays(service, this.log, admin);
    const check = await this.log.call('GET', '/v1/ledger/check?last=10000', { caller: admin });
    await traffic.exported();
    this.progress(options.plans.length, traffic, 'judging');
    const events = await readEvents(this.ask);
    const exports = await judgedBundles(traffic.bundles, service);
    const output = this.output + service.stdout + service.stderr;
    const { calls } = this.log;
    const canaries = canariesOf([...agents, admin]);
    const places = await placesOf(service, { canaries, output, calls, bundles: exports }, this.ask);
    const evidence: Evidence = {
      org: service.org,
      tools: CRM_TOOLS,
      calls,
      upstream: this.oracle.requests,
      events,
      exports,
      ledgerCheck: check.answer?.json ?? {},
      ...lists,
      rest,
      accessLines: accessLinesIn(output),
      processEnds: this.ends,
      canaries,
      places,
    };
    return { evidence, coverage: this.coverage(output), output };
  }

  private coverage(output: string): Coverage {
    const acted: Record<string, number> = {};
    for (const [, point = '', action = ''] of output.matchAll(ACTED)) {
      const name = `${point}=${action}`;
      acted[name] = (acted[name] ?? 0) + 1;
    }
    return { kills: Object.fromEntries(this.counted), missed: this.missed, acted };
  }

  private progress(kills: number, traffic: Traffic, doing: string): void {
    this.options.onProgress?.({ kills, of: this.options.plans.length, submitted: traffic.submitted, doing });
  }
}
