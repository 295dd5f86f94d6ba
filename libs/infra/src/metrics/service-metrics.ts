import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type {
  AnsweredRequest,
  CallMode,
  JobQueue,
  Meter,
  OrgId,
  PolicyMode,
  SweeperName,
  MeteredDecoder,
  SeenTransaction,
} from '#libs/domain/kernel';
import type { BuildFacts } from '../runtime/index.js';

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const OVERHEAD_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const UNMATCHED = 'unmatched';
const DECODER_STATUSES: readonly MeteredDecoder['status'][] = ['healthy', 'degraded', 'down', 'invalidated'];

/**
 * The 17 families of docs/metrics.md. Labels are bounded (rule OPS-3): by routes, statuses and names of this program.
 */
export class ServiceMetrics implements Meter {
  private readonly registry = new Registry();
  private readonly organizationsWithPolicy = new Set<OrgId>();
  private readonly requests: Counter<'route' | 'method' | 'status'>;
  private readonly requestSeconds: Histogram<'route'>;
  private readonly inFlight: Gauge;
  private readonly policyReloads: Counter;
  private readonly policyLoadFailures: Counter;
  private readonly actions: Counter<'mode' | 'status'>;
  private readonly overheadSeconds: Histogram;
  private readonly jobs: Counter<'kind' | 'result'>;
  private readonly sweeps: Counter<'sweeper' | 'result'>;
  private readonly timeLimits: Counter<'mode'>;
  private readonly transactions: Counter<'result'>;
  private readonly decoders = new Map<string, MeteredDecoder>();
  private unwitnessedMs = 0;

  /** Asked for its depth at every scrape. */
  queue: Pick<JobQueue, 'depth'> | null = null;
  /** Where they are served; null where they are not. */
  servedAt: { readonly host: string; readonly port: number } | null = null;

  constructor({ version, commit }: BuildFacts) {
    this.requests = this.counter('http_requests_total', 'Requests answered.', ['route', 'method', 'status']);
    this.requestSeconds = this.histogram('http_request_duration_seconds', 'From the last header to the answer’s end.', {
      labelNames: ['route'],
      buckets: REQUEST_BUCKETS_S,
    });
    this.inFlight = this.gauge('http_in_flight', 'Requests under way.');
    new Gauge({
      name: 'service_build_info',
      help: 'Always 1.',
      labelNames: ['version', 'commit'],
      registers: [this.registry],
    }).set({ version, commit }, 1);
    this.policyReloads = this.counter('policy_reloads_total', 'Policy versions read and compiled.');
    this.policyLoadFailures = this.counter(
      'policy_load_failures_total',
      'Policy versions that could not be used; actions of their organization are then refused with policy_unavailable.',
    );
    const { organizationsWithPolicy } = this;
    this.gauge(
      'policy_active_orgs',
      'Organizations whose policy this process has judged by.',
      () => organizationsWithPolicy.size,
    );
    this.actions = this.counter('gate_actions_total', 'Submissions answered by the action they made.', [
      'mode',
      'status',
    ]);
    this.overheadSeconds = this.histogram(
      'gate_overhead_seconds',
      'From a submission to its sealed answer, without the time its tool took.',
      { labelNames: [], buckets: OVERHEAD_BUCKETS_S },
    );
    this.jobs = this.counter('worker_jobs_total', 'Jobs taken from the queue.', ['kind', 'result']);
    this.gauge('worker_queue_depth', 'Jobs that wait.', () => this.depth());
    this.sweeps = this.counter('gate_sweeps_total', 'Rounds of what looks for work left behind.', [
      'sweeper',
      'result',
    ]);
    this.timeLimits = this.counter('policy_eval_time_limit_total', 'Policy evaluations that took too long.', ['mode']);
    this.transactions = this.counter('witness_transactions_total', 'Transactions read from change logs.', ['result']);
    this.gaugeDecoders();
    this.gauge(
      'ledger_witnessed_age_seconds',
      'How long the deed that waits longest for its witnesses has waited.',
      () => this.unwitnessedMs / 1_000,
    );
  }

  /** No label names a connector: of several the worst is what an operator must know. */
  private gaugeDecoders(): void {
    const { decoders, registry } = this;
    const most = (of: (decoder: MeteredDecoder) => number) => () => Math.max(0, ...[...decoders.values()].map(of));
    this.gauge(
      'witness_lag_bytes',
      'Of the decoder that is furthest behind.',
      most(({ lagBytes }) => lagBytes),
    );
    this.gauge(
      'witness_lag_seconds',
      'Of the decoder that is longest behind.',
      most(({ lagMs }) => lagMs / 1_000),
    );
    new Gauge({
      name: 'service_witness_decoders',
      help: 'Decoders of this process.',
      labelNames: ['status'],
      registers: [registry],
      collect() {
        for (const status of DECODER_STATUSES) {
          this.set({ status }, [...decoders.values()].filter((decoder) => decoder.status === status).length);
        }
      },
    });
  }

  /** Not a number while the queue does not say: the other families are served all the same. */
  private async depth(): Promise<number> {
    try {
      return (await this.queue?.depth()) ?? 0;
    } catch {
      return Number.NaN;
    }
  }

  /** Text exposition format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  requestBegan(): void {
    this.inFlight.inc();
  }

  requestEnded({ route, method, status, durationMs }: AnsweredRequest): void {
    this.inFlight.dec();
    const pattern = route ?? UNMATCHED;
    this.requests.inc({ route: pattern, method: METHODS.has(method) ? method : 'OTHER', status });
    this.requestSeconds.observe({ route: pattern }, durationMs / 1_000);
  }

  actionAnswered(mode: CallMode, status: number): void {
    this.actions.inc({ mode, status });
  }

  gateOverhead(overheadMs: number): void {
    this.overheadSeconds.observe(Math.max(0, overheadMs) / 1_000);
  }

  policyLoaded(isUsable: boolean): void {
    this.policyReloads.inc();
    if (!isUsable) this.policyLoadFailures.inc();
  }

  organizationJudged(org: OrgId, hasPolicy: boolean): void {
    if (hasPolicy) this.organizationsWithPolicy.add(org);
    else this.organizationsWithPolicy.delete(org);
  }

  policyTimeLimitTripped(mode: PolicyMode): void {
    this.timeLimits.inc({ mode });
  }

  jobEnded(kind: string, result: 'done' | 'retry' | 'error'): void {
    this.jobs.inc({ kind, result });
  }

  sweepEnded(sweeper: SweeperName, result: 'done' | 'skipped' | 'error'): void {
    this.sweeps.inc({ sweeper, result });
  }

  transactionSeen(result: SeenTransaction): void {
    this.transactions.inc({ result });
  }

  decoderStands(connector: string, decoder: MeteredDecoder | null): void {
    if (decoder === null) this.decoders.delete(connector);
    else this.decoders.set(connector, decoder);
  }

  ledgersWitnessed(ageMs: number): void {
    this.unwitnessedMs = ageMs;
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name: `service_${name}`, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, value?: () => number | Promise<number>): Gauge {
    return new Gauge({
      name: `service_${name}`,
      help,
      registers: [this.registry],
      ...(value && {
        async collect(this: Gauge) {
          this.set(await value());
        },
      }),
    });
  }

  private histogram<Label extends string>(
    name: string,
    help: string,
    shape: { labelNames: Label[]; buckets: number[] },
  ): Histogram<Label> {
    return new Histogram({ name: `service_${name}`, help, ...shape, registers: [this.registry] });
  }
}
