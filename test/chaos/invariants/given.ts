import { violationsIn, type InvariantId } from '../checker.js';
import type { ClientAnswer, ClientCall, Evidence, LoggedEvent, Members } from '../evidence.js';

export const ORG = 'org_1';
export const ACTION = 'act_1';
export const LIMIT_MS = 12_000;
const FAULTS_ENDED_MS = Date.parse('2026-10-01T12:00:00.000Z');
export const at = (ms: number): string => new Date(FAULTS_ENDED_MS + ms).toISOString();

export const NOTHING: Evidence = {
  org: ORG,
  tools: {},
  calls: [],
  upstream: [],
  events: [],
  told: { webhooks: [], arrivals: [], streams: [] },
  exports: [],
  ledgerCheck: {},
  rows: {},
  rebuildFault: null,
  rest: { faultsEndedAt: at(0), limitMs: LIMIT_MS, wellAfterMs: 0, unsealed: [], health: { status: 'ok' } },
  accessLines: [],
  processEnds: [],
  canaries: [],
  places: [],
};

export const saidOf = (invariant: InvariantId, evidence: Partial<Evidence>): readonly string[] =>
  violationsIn({ ...NOTHING, ...evidence })
    .filter((violation) => violation.invariant === invariant)
    .map(({ message }) => message);

export const event = (stream: string, type: string, data: Members): LoggedEvent => ({
  position: 1,
  stream,
  revision: 0,
  id: type,
  type,
  data,
  metadata: {},
});

export const answered = (answer: Partial<ClientAnswer>): ClientCall => ({
  number: 1,
  method: 'POST',
  path: '/v1/actions',
  caller: null,
  idempotencyKey: null,
  request: '',
  tool: null,
  beganMs: 0,
  endedMs: 1,
  isUnderFault: true,
  answer: { status: 200, headers: {}, body: '', json: {}, ...answer },
});
