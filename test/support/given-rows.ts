import { digestOf } from '#libs/crypto';
import type { LivingAction } from '#libs/domain/gate';
import {
  type ActionRow,
  type AgentRow,
  type ConnectorRow,
  type DeedRow,
  type PolicyRow,
  type PolicyVersionRow,
  RowTransaction,
  type RowType,
} from '#libs/infra/read-models';
import type { DataSource } from 'typeorm';
import { allowed, submission, TEST_ORG, testId, testTime } from './given-log.js';

const ROWS_A_STATEMENT = 5_000;

/** Writes rows as the projector would. */
export const writeRows = async <Row extends object>(
  source: DataSource,
  rowType: RowType<Row>,
  rows: readonly Row[],
): Promise<void> => {
  await source.transaction(async (manager) => {
    const transaction = new RowTransaction(manager);
    for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
      await transaction.upsert(rowType, rows.slice(from, from + ROWS_A_STATEMENT));
    }
  });
};

/** A sealed, verified action, submitted `number` seconds after noon. */
export const actionRow = (number: number, changes: Partial<ActionRow> = {}): ActionRow => {
  const id = testId('act', number);
  const createdAt = changes.createdAt ?? testTime(number);
  const folded: LivingAction = {
    state: 'recorded',
    submission: submission(number),
    createdAt,
    decision: allowed,
    shadow: null,
    charges: [],
    decidedAt: createdAt,
    ready: null,
    approval: null,
    edge: null,
    attempts: [],
    outcome: null,
    readBack: null,
    changeLog: { progress: [], reported: [], awaited: null, finished: null, word: null },
    lateReport: null,
    witness: null,
    revision: 5,
    sealingRevision: 5,
    amendedRevision: null,
  };
  return {
    id,
    org: TEST_ORG,
    agent: testId('agt', 1),
    key: testId('key', 1),
    tool: 'crm.get_customer',
    state: 'sealed',
    decision: 'allow',
    verdict: 'VERIFIED',
    level: 'L0',
    errorCode: null,
    onBehalfOf: null,
    session: null,
    ruleId: 'read-crm',
    execution: 'succeeded',
    shadowDiffers: false,
    createdAt,
    deed: testId('deed', number),
    sealedAt: createdAt,
    folded,
    ...changes,
  };
};

export const deedRow = (seq: number, changes: Partial<DeedRow> = {}): DeedRow => ({
  id: testId('deed', seq),
  org: TEST_ORG,
  seq,
  kind: 'action',
  action: testId('act', seq),
  agent: testId('agt', 1),
  issuedAt: testTime(seq),
  bodyHash: digestOf(`body ${seq}`),
  prevHash: seq === 1 ? null : digestOf(`body ${seq - 1}`),
  kid: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
  signature: 'c2lnbmF0dXJl',
  about: {
    tool: 'crm.get_customer',
    agent: testId('agt', 1),
    outcome: 'succeeded',
    level: 'L0',
    verdict: 'VERIFIED',
  },
  ...changes,
});

export const agentRow = (number: number, changes: Partial<AgentRow> = {}): AgentRow => {
  const [id, createdAt] = [testId('agt', number), testTime(number)];
  const name = changes.name ?? `agent ${number}`;
  const org = changes.org ?? TEST_ORG;
  return {
    id,
    org,
    name,
    status: 'active',
    createdAt,
    folded: {
      status: 'active',
      statusReason: null,
      org,
      agent: id,
      name,
      labels: {},
      owner: null,
      intentMode: 'off',
      intentKeys: [],
      budgets: { calls_per_day: null, spend_per_day: null },
      createdAt,
      keys: [],
    },
    ...changes,
  };
};

export const connectorRow = (number: number, changes: Partial<ConnectorRow> = {}): ConnectorRow => {
  const id = testId('con', number);
  const name = changes.name ?? `crm${number}`;
  const createdAt = testTime(number);
  const org = changes.org ?? TEST_ORG;
  return {
    id,
    org,
    name,
    type: 'rest',
    status: 'active',
    createdAt,
    folded: {
      status: 'active',
      id,
      org,
      name,
      type: 'rest',
      description: null,
      config: {},
      configHash: digestOf('config'),
      credential: null,
      disabledReason: null,
      createdAt,
      updatedAt: createdAt,
    },
    ...changes,
  };
};

export const policyRow = (number: number, changes: Partial<PolicyRow> = {}): PolicyRow => ({
  id: testId('pol', number),
  org: TEST_ORG,
  name: `Policy ${number}`,
  createdAt: testTime(number),
  latestVersionId: testId('pv', number),
  ...changes,
});

/** Version 1 of policy `number`, with the id of the same number. */
export const policyVersionRow = (number: number, changes: Partial<PolicyVersionRow> = {}): PolicyVersionRow => {
  const source = changes.source ?? `version: 1 # ${number}\n`;
  return {
    id: testId('pv', number),
    org: TEST_ORG,
    policy: testId('pol', number),
    version: 1,
    source,
    sourceBytes: Buffer.byteLength(source),
    sourceHash: digestOf(source),
    versionHash: digestOf(`version ${number}`),
    notes: null,
    author: { type: 'admin_key', id: testId('key', 1) },
    origin: 'user',
    createdAt: testTime(number),
    ...changes,
  };
};
