/**
 * `DATABASE_URL ORG FROM TO`: makes the rows of actions FROM + 1 to TO of an organization, through the projection's own fold. A
 * program of its own, so that whoever measures afterwards has no heap full of them.
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

const envelopesOf = (number: number, org: OrgId): readonly EventEnvelope[] => {
  const action = testId('act', number);
  const deed = deedEvent(number, org);
  const own = actionEvents(number, org).map((event, revision) => envelopeOf(event, `action-${action}`, revision, org));
  return deed === null ? own : [...own, envelopeOf(deed, `ledger-${org}`, number - 1, org)];
};

const [, , connectionString = '', organization, ...numbers] = process.argv;
const org = organization as OrgId;
const [from = 0, to = 0] = numbers.map(Number);
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
await source.query('vacuum analyze read_models.actions');
await source.destroy();
