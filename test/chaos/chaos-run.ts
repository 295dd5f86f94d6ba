import { setTimeout as delay } from 'node:timers/promises';
import { connectCrm } from '../support/crm.js';
import { ChaosScene, type SceneOptions } from './chaos-scene.js';
import type { ChaosTarget } from './chaos-target.js';
import type { Evidence } from './evidence.js';
import { countedAs, isOfStore, planText, type RoundPlan, type Store } from './faults.js';
import { Listeners, type Manner } from './listeners.js';
import { startOracle } from './oracle.js';
import { chanceOf } from './random.js';
import { Traffic } from './traffic.js';

export interface ChaosOptions extends Omit<SceneOptions, 'listeners'> {
  readonly seed: number;
  /** A round each; after them, or where there are none, one without any fault. */
  readonly plans: readonly RoundPlan[];
  readonly callsPerRound: number;
  readonly toolTimeoutMs: number;
  /** Kills a store of the run's own, and starts it again. Resolves when it runs. */
  readonly killStore: Readonly<Partial<Record<Store, () => Promise<void>>>>;
  /** Webhooks that hear every event, one each; where there is one, a stream is read besides. */
  readonly webhooks: readonly Manner[];
  /** Agents beside the first. */
  readonly moreAgents: number;
  /** Of a program with a bug planted in it, which may break the ledger before the run begins. */
  readonly isPlanted?: boolean;
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

/** A round that does not come to its moment is ended by hand. */
const MISSED_AFTER_MS = 10_000;
const LINGER_MS = 100;
const ACTED = /\bfailpoint=(\S+) action=(\S+)/g;

/** Drives a service that runs, through faults or none, and gathers what happened. The service is left running. */
export const runChaos = async (service: ChaosTarget, options: ChaosOptions): Promise<ChaosResult> => {
  const oracle = await startOracle();
  try {
    await connectCrm(service, oracle.baseUrl, { timeoutMs: options.toolTimeoutMs });
    if (options.webhooks.length === 0)
      return await new ChaosRun(new ChaosScene(service, oracle, options), options).run();
    const listeners = await Listeners.start(service, options.webhooks);
    try {
      return await new ChaosRun(new ChaosScene(service, oracle, { ...options, listeners }), options).run();
    } finally {
      await listeners.close();
    }
  } finally {
    await oracle.close();
  }
};

class ChaosRun {
  private readonly counted = new Map<string, number>();
  private missed = 0;

  constructor(
    private readonly scene: ChaosScene,
    private readonly options: ChaosOptions,
  ) {}

  async run(): Promise<ChaosResult> {
    const { scene } = this;
    const { seed, plans, callsPerRound, moreAgents, isPlanted = false } = this.options;
    await scene.signLedger({ mayBeBroken: isPlanted });
    for (let number = 2; number <= moreAgents + 1; number += 1) await scene.addAgent(`agent ${number}`);
    const traffic = new Traffic(scene, chanceOf(seed));
    for (const [killed, plan] of plans.entries()) {
      this.progress(killed, traffic, `kill ${planText(plan)}`);
      await this.round(plan, () => traffic.round(callsPerRound));
    }
    this.progress(plans.length, traffic, 'letting it come to rest');
    if (plans.length > 0) await scene.arm('none');
    await scene.recovered(performance.now());
    scene.markFaults(false);
    await traffic.round(callsPerRound);
    await traffic.settle();
    this.progress(plans.length, traffic, 'gathering and judging');
    const coverage = this.coverage();
    const evidence = await scene.gather({ isRebuilt: true });
    return { evidence, coverage, output: scene.service.output };
  }

  private async round(plan: RoundPlan, traffic: () => Promise<void>): Promise<void> {
    const { scene } = this;
    const { kill, orders } = plan;
    scene.markFaults(true);
    const kind = countedAs(plan);
    this.counted.set(kind, (this.counted.get(kind) ?? 0) + 1);
    const own = kill.kind === 'failpoint' ? [`${kill.point}=kill@${kill.atHit}`] : [];
    await scene.arm([...own, ...orders].join(',') || 'none');
    const exited = scene.exited();
    const sent = traffic();
    if (isOfStore(kill)) {
      await delay(kill.afterMs);
      await this.options.killStore[kill.kind]?.();
      await Promise.race([exited, sent]);
    } else {
      await this.killed(plan, exited, sent);
    }
    await scene.startAgain(sent);
  }

  /** Resolves when a process is gone, by the plan or by hand. */
  private async killed({ kill, victim }: RoundPlan, exited: Promise<unknown>, sent: Promise<void>): Promise<void> {
    const { oracle, service } = this.scene;
    const allSent = (): Promise<void> => sent.then(() => delay(LINGER_MS));
    if (kill.kind === 'moment') await Promise.race([delay(kill.afterMs), exited]);
    if (kill.kind === 'execution') await Promise.race([oracle.holdNextWrite(), allSent(), exited]);
    if (kill.kind === 'failpoint') {
      const patience = Promise.race([delay(MISSED_AFTER_MS), allSent()]);
      const hasExited = await Promise.race([exited.then(() => true), patience.then(() => false)]);
      if (hasExited) return;
      this.missed += 1;
    }
    await service.kill('SIGKILL', victim);
    oracle.holdNothing();
  }

  private coverage(): Coverage {
    const acted: Record<string, number> = {};
    for (const [, point = '', action = ''] of this.scene.service.output.matchAll(ACTED)) {
      const name = `${point}=${action}`;
      acted[name] = (acted[name] ?? 0) + 1;
    }
    return { kills: Object.fromEntries(this.counted), missed: this.missed, acted };
  }

  private progress(kills: number, traffic: Traffic, doing: string): void {
    this.options.onProgress?.({ kills, of: this.options.plans.length, submitted: traffic.submitted, doing });
  }
}
