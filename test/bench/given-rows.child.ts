/**
 * `DATABASE_URL ORG FROM TO [spread]`: makes the rows of actions FROM + 1 to TO of an organization, through the projection's own
 * fold: each a second after the one before, or `spread` over the last million seconds, whatever their number. A program of its
 * own, so that whoever measures afterwards has no heap full of them.
 */
import type { DomainEvent, EventEnvelope, OrgId } from '#libs/domain/kernel';
import { SYSTEM } from '#libs/domain/kernel';
import { readModelSource, RowTransaction } from '#libs/infra/read-models';
import { actionsProjection } from '../../apps/projector/src/gate/actions.projection.js';
import { testId, testTime } from '../support/given-log.js';
import { say } from './figure.js';
import { actionEvents, deedEvent } from './given-actions.js';

const BATCH = 2_000;
const SAID_EVERY = 100_000;

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

const SPREAD_S = 1_000_000;
/** Without a common divisor: each number has a second of its own. */
const STRIDE = 7_919;
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** With all its times, at the second of this number. */
const spread = <Event extends DomainEvent>(event: Event, number: number): Event => {
  const at = nowMs - (1 + ((number * STRIDE) % SPREAD_S)) * 1_000;
  const shiftMs = at - Date.parse(testTime(number));
  const text = JSON.stringify(event);
  return JSON.parse(text.replace(TIMES, (time) => new Date(Date.parse(time) + shiftMs).toISOString())) as Event;
};

const envelopesOf = (number: number, org: OrgId): readonly EventEnvelope[] => {
  const action = testId('act', number);
  const deed = deedEvent(number, org);
  const placed = <Event extends DomainEvent>(event: Event): Event => (isSpread ? spread(event, number) : event);
  const own = actionEvents(number, org).map((event, revision) =>
    envelopeOf(placed(event), `action-${action}`, revision, org),
  );
  return deed === null ? own : [...own, envelopeOf(placed(deed), `ledger-${org}`, number - 1, org)];
};

const [, , connectionString = '', organization, ...numbers] = process.argv;
const org = organization as OrgId;
const [from = 0, to = 0] = numbers.slice(0, 2).map(Number);
const isSpread = numbers[2] === 'spread';
const nowMs = Date.now();
const source = await readModelSource({
  connectionString,
  applicationName: 'ags bench',
  maxConnections: 2,
  statementTimeoutMs: 0,
  isDurable: false,
  onError: (error) => say(`a connection was lost: ${error.message}`),
}).initialize();
say(`${to} actions, through the projector ...`);
for (let first = from + 1; first <= to; first += BATCH) {
  const envelopes = Array.from({ length: BATCH }, (_, index) => envelopesOf(first + index, org)).flat();
  await source.transaction((manager) => actionsProjection.project(envelopes, new RowTransaction(manager)));
  if (first > 1 && (first - 1) % SAID_EVERY === 0) say(`  ${first - 1}`);
}
await source.query('vacuum analyze read_models.actions, read_models.hourly_counts, read_models.hourly_totals');
await source.destroy();
