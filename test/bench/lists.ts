import type { DomainEvent, EventEnvelope, OrgId } from '#libs/domain/kernel';
import { SYSTEM } from '#libs/domain/kernel';
import { readModelSource, RowTransaction } from '#libs/infra/read-models';
import { actionsProjection } from '../../apps/projector/src/gate/actions.projection.js';
import { testId, testTime } from '../support/given-log.js';
import type { BenchService } from './bench-service.js';
import { actionEvents, deedEvent } from './given-actions.js';
import { against, print, say } from './figure.js';
import { quantile } from './pace.js';

const FEW = 10_000;
const MANY = 1_000_000;
const BATCH = 2_000;
const ROUNDS = 60;
const GOAL = 1.5;

/** A page of each: what a Console and scripts ask for. */
const QUERIES: readonly string[] = [
  '',
  'limit=100',
  `agent=${testId('agt', 7)}`,
  'tool=crm.tool_17',
  'tool=crm.*',
  'state=sealed',
  'state=executing',
  'decision=allow',
  'verdict=VERIFIED',
  `created_at[gte]=${testTime(100)}&created_at[lt]=${testTime(5_000)}`,
  'q=upstream',
  'q=tool_3',
];

/** The slowest pages of the list of actions with a million rows, in units of the same with ten thousand. */
export const listSpeed = async (service: BenchService): Promise<void> => {
  const server = await service.database();
  const source = await readModelSource({
    connectionString: server.connectionString('service'),
    applicationName: 'ags bench',
    maxConnections: 2,
    statementTimeoutMs: 0,
    isDurable: false,
    onError: (error) => say(`a connection was lost: ${error.message}`),
  }).initialize();
  const org = service.org as OrgId;
  try {
    const grow = async (from: number, to: number): Promise<void> => {
      say(`${to} actions, through the projector ...`);
      for (let first = from + 1; first <= to; first += BATCH) {
        const envelopes = Array.from({ length: BATCH }, (_, index) => envelopesOf(first + index, org)).flat();
        await source.transaction((manager) => actionsProjection.project(envelopes, new RowTransaction(manager)));
        if ((first - 1) % 100_000 === 0 && first > FEW) say(`  ${first - 1}`);
      }
      await source.query('vacuum analyze read_models.actions');
    };
    await grow(0, FEW);
    const few = await slowest(service);
    await grow(FEW, MANY);
    const many = await slowest(service);
    print(against('list_p99', [many, few], 'ms', 'at most', GOAL), service.profile);
  } finally {
    await source.destroy();
    await server.release();
  }
};

const slowest = async (service: BenchService): Promise<number> => {
  const all: number[] = [];
  const byQuery = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const query of QUERIES) {
      const begun = performance.now();
      const answer = await service.call('GET', `/v1/actions?${query}`, { key: service.adminKey });
      const tookMs = performance.now() - begun;
      if (answer.status !== 200) throw new Error(answer.text);
      // The first round fills caches.
      if (round === 0) continue;
      all.push(tookMs);
      byQuery.set(query, [...(byQuery.get(query) ?? []), tookMs]);
    }
  }
  for (const [query, tookMs] of byQuery)
    say(`  ${quantile(tookMs, 0.5).toFixed(1)} ms  ${query === '' ? '(all)' : query}`);
  return quantile(all, 0.99);
};

const envelopesOf = (number: number, org: OrgId): readonly EventEnvelope[] => {
  const action = testId('act', number);
  const deed = deedEvent(number, org);
  const own = actionEvents(number, org).map((event, revision) => envelopeOf(event, `action-${action}`, revision, org));
  return deed === null ? own : [...own, envelopeOf(deed, `ledger-${org}`, number - 1, org)];
};

/** As the store would give it back; a fold reads the event and its place. */
const envelopeOf = (event: DomainEvent, stream: string, revision: number, org: OrgId): EventEnvelope => ({
  event,
  metadata: {
    org,
    actor: SYSTEM,
    request_id: null,
    causation: stream,
    correlation: stream,
    schema: 1,
    at: testTime(0),
  },
  recorded: { stream, revision, position: 0n, id: '', type: event.type, data: '', metadata: '' },
});
