import { type Clock, type Logger, StoreUnavailable } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import { inTime } from '#libs/infra/runtime';
import type { Drain } from '../http/drain.js';
import type { HealthCheck } from './health-check.js';

export type HealthStatus = 'ok' | 'degraded' | 'down' | 'draining';

/** What GET /v1/health answers (docs/api-conventions.md, Health and shutdown). */
export interface HealthReport {
  readonly object: 'health';
  readonly status: HealthStatus;
  readonly checks: Readonly<Record<string, 'ok' | 'degraded' | 'down'>>;
}

/** An answer is given again for 1 s, so that a thousand probes cost what one does (rule API-16). */
const CACHE_MS = 1_000;
/** A check that does not answer in this time has failed: a probe's own patience is short. */
const CHECK_TIMEOUT_MS = 2_000;

/** The state of the service, judged at most once a second whoever asks. */
export class Health {
  private readonly faults = new Map<string, RepeatedFault>();
  private cached: { readonly atMs: number; readonly checks: Promise<HealthReport['checks']> } | null = null;

  constructor(
    private readonly checks: readonly HealthCheck[],
    private readonly drain: Drain,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async report(): Promise<HealthReport> {
    const checks = await this.current();
    const statuses = Object.values(checks);
    const worst = statuses.includes('down') ? 'down' : statuses.includes('degraded') ? 'degraded' : 'ok';
    return { object: 'health', status: this.drain.isDraining ? 'draining' : worst, checks };
  }

  private current(): Promise<HealthReport['checks']> {
    const nowMs = this.clock.monotonicMs();
    if (this.cached === null || nowMs - this.cached.atMs >= CACHE_MS) {
      this.cached = { atMs: nowMs, checks: this.judge() };
    }
    return this.cached.checks;
  }

  private async judge(): Promise<HealthReport['checks']> {
    const judged = await Promise.all(this.checks.map(async (each) => [each.name, await this.statusOf(each)] as const));
    return Object.fromEntries(judged);
  }

  private async statusOf({ name, check, isVital }: HealthCheck): Promise<'ok' | 'degraded' | 'down'> {
    try {
      const status = await inTime(CHECK_TIMEOUT_MS, check(), (message) => new StoreUnavailable(message));
      this.faults.get(name)?.over();
      return status;
    } catch (error) {
      this.faultOf(name).met(error);
      return isVital ? 'down' : 'degraded';
    }
  }

  private faultOf(check: string): RepeatedFault {
    const { logger } = this;
    const fault =
      this.faults.get(check) ?? new RepeatedFault((met) => logger.error('health check failed', { check, ...met }));
    this.faults.set(check, fault);
    return fault;
  }
}
