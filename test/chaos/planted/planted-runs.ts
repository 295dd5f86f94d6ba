import { ensureDatabase } from '#libs/infra/postgres';
import { startOwnServer, type OwnServer } from '../../support/own-server.js';
import { silentLogger } from '../../support/silent-logger.js';
import { startService } from '../../support/service.js';
import { runChaos, type ChaosOptions } from '../chaos-run.js';
import { CHAOS_SETTINGS, REST_LIMIT_MS } from '../chaos-scene.js';
import { violationsIn, type InvariantId, type Violation } from '../checker.js';
import type { RoundPlan } from '../faults.js';
import type { PlantedBug } from './bugs.js';
import { plantedProgram } from './planted-program.js';

const SEED = 11;
const CALLS = 12;
/** Services at once: each takes about forty of the server's hundred connections. */
const LANES = 2;
/**
 * A bug that shows after a kill needs one that leaves a call both unfinished and in time: on a busy machine the time may be
 * over before the service is up again, and there is nothing to be seen.
 */
const CHANCES_OF_A_KILL = 3;
/** Of a service that sweeps five times a second, and has nothing to recover from but a bug: stricter, so that the bug is seen. */
const REST_LIMIT_OF_BUGS_MS = 6_000;
/** Longer than that: an execution that nobody ends by itself is ended too late. */
const TOOL_TIMEOUT_MS = 10_000;

/** A delivery that a kill met is taken up half a minute later, so only runs that judge deliveries wait for them. */
const OF_WHAT_IS_TOLD: ReadonlySet<InvariantId> = new Set(['INV-08', 'INV-09']);
const WEBHOOKS = ['steady'] as const;
/** Where nothing is killed, whatever has not arrived by then never does. */
const TOLD_LIMIT_MS = 6_000;
const TOLD_AFTER_A_KILL_MS = 60_000;

/** Runs services, two at a time, that share one PostgreSQL; each has a database of its own. */
export class PlantedRuns {
  private made = 0;
  private readonly lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());

  private constructor(private readonly server: OwnServer) {}

  static async start(): Promise<PlantedRuns> {
    return new PlantedRuns(await startOwnServer());
  }

  stop(): Promise<void> {
    return this.server.dispose();
  }

  /** What the checker says of a service with that bug. */
  ofBug({ changes, breaks, plans = [] }: PlantedBug): Promise<readonly Violation[]> {
    const webhooks = OF_WHAT_IS_TOLD.has(breaks) ? WEBHOOKS : [];
    return this.inTurn(async () => {
      let violations: readonly Violation[] = [];
      for (let chance = 0; chance < (plans.length === 0 ? 1 : CHANCES_OF_A_KILL); chance += 1) {
        violations = await this.run(changes, plans, { seed: SEED + chance, webhooks });
        if (violations.some(({ invariant }) => invariant === breaks)) break;
      }
      return violations;
    });
  }

  /** And of the same service, from the same kind of copy, without any. */
  ofNone(plans: readonly RoundPlan[]): Promise<readonly Violation[]> {
    return this.inTurn(() => this.run([], plans, { seed: SEED, webhooks: WEBHOOKS }));
  }

  /** The lanes in turn: runs take about the same time. */
  private inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const before = this.lanes.shift() ?? Promise.resolve();
    const result = before.then(run);
    this.lanes.push(result.catch(() => null));
    return result;
  }

  private async run(
    changes: PlantedBug['changes'],
    plans: readonly RoundPlan[],
    { seed, webhooks }: Pick<ChaosOptions, 'seed' | 'webhooks'>,
  ): Promise<readonly Violation[]> {
    const connectionString = this.server.connectionString(`planted_${(this.made += 1)}`);
    await ensureDatabase(connectionString, silentLogger);
    const { program, remove } = await plantedProgram(changes);
    try {
      const service = await startService({ program, env: { ...CHAOS_SETTINGS, DATABASE_URL: connectionString } });
      try {
        const { evidence } = await runChaos(service, {
          seed,
          plans,
          callsPerRound: CALLS,
          toolTimeoutMs: TOOL_TIMEOUT_MS,
          webhooks,
          toldLimitMs: plans.length === 0 ? TOLD_LIMIT_MS : TOLD_AFTER_A_KILL_MS,
          moreAgents: 0,
          isPlanted: changes.length > 0,
          place: { connectionString, eventStoreUrl: null },
          folders: [service.stateDir],
          killStore: {},
          restLimitMs: changes.length === 0 ? REST_LIMIT_MS : REST_LIMIT_OF_BUGS_MS,
        });
        return violationsIn(evidence);
      } finally {
        await service.stop();
      }
    } finally {
      await remove();
    }
  }
}
