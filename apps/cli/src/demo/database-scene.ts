import { join } from 'node:path';
import { type DemoDatabase, ensureDemoConnector, startDemoDatabase, untilDemoIsReady } from '#libs/infra/demo-database';
import { PinoLogger } from '#libs/infra/logging';
import { DatabaseClient } from '#libs/infra/postgres';
import type { Person } from './person.js';
import { member, type Answer } from './scratch-service.js';
import { act, sealed, type Stage } from './stage.js';

const CUSTOMER = 5;
const REFUND = 3;
const SELECT = 'SELECT name, plan FROM customers WHERE id = $1';
const DELETE = 'DELETE FROM refunds';
const UPDATE = 'UPDATE refunds SET status = $1 WHERE id = $2';
const BY_HAND = `UPDATE customers SET plan = 'business' WHERE id = ${CUSTOMER}`;
const ALERT_DEADLINE_MS = 20_000;

/**
 * A database whose own change log says what an agent has changed, and what somebody has changed past the service.
 * @param owner signed in
 */
export const witnessedDatabase = async (stage: Stage, owner: Person): Promise<void> => {
  const { story, service, adminKey: key, folder } = stage;
  story.scene('A database that says itself what was changed');
  const log = new PinoLogger({ level: 'error', format: 'text' });
  // The service holds it, too.
  const demo = await startDemoDatabase({ stateDir: join(folder, 'state'), log });
  try {
    const call = (method: string, path: string, body?: object): Promise<Answer> =>
      service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
    await ensureDemoConnector(call, demo);
    await untilDemoIsReady(call);
    await query(stage);
    await refusedDelete(stage, demo);
    await confirmedUpdate(stage, owner);
    await bypass(stage, demo);
  } finally {
    await demo.release();
  }
};

const query = async (stage: Stage): Promise<void> => {
  const { story } = stage;
  story.tell(`demo.query ${SELECT}, ${CUSTOMER}`);
  const { json } = await act(stage, 'demo.query', { sql: SELECT, params: [CUSTOMER] });
  const row = member(json, 'execution', 'result', 'rows', '0');
  story.tell(`→ ${String(json['status'])}: ${JSON.stringify(row)}`);
  story.claim('the agent reads the row, with a login that it never sees', member(row, 'name') === 'Elif Yalman');
};

const refusedDelete = async (stage: Stage, demo: DemoDatabase): Promise<void> => {
  const { story } = stage;
  story.tell(`demo.execute ${DELETE}`);
  const { status, json } = await act(stage, 'demo.execute', { sql: DELETE });
  story.tell(`→ ${status} ${String(member(json, 'error', 'code'))}: ${String(member(json, 'error', 'message'))}`);
  const left = await asOwner(demo, 'SELECT count(*)::int AS refunds FROM refunds');
  story.claim(
    'a DELETE without WHERE is refused before anything is sent, and the refusal is sealed',
    member(json, 'error', 'code') === 'policy_denied' &&
      member(json, 'error', 'action', 'state') === 'sealed' &&
      left[0]?.['refunds'] === 5,
  );
};

const confirmedUpdate = async (stage: Stage, owner: Person): Promise<void> => {
  const { story } = stage;
  story.tell(`demo.execute ${UPDATE}, 'paid', ${REFUND}`);
  const held = await act(stage, 'demo.execute', { sql: UPDATE, params: ['paid', REFUND] });
  const path = `/v1/approvals/${String(member(held.json, 'approval', 'id'))}`;
  const shown = await owner.send('GET', path);
  story.tell(`→ ${held.status} ${String(held.json['status'])}; the owner looks at the statement, and approves`);
  await owner.send('POST', `${path}/approve`, { context_digest: shown.json['context_digest'] });
  const { json } = await sealed(stage, String(held.json['id']));
  const [verdict, level] = ['verdict', 'level'].map((name) => String(member(json, 'witness', name)));
  story.tell(`→ ${String(json['status'])}: ${verdict} at ${level}; sealed as ${String(json['deed'])}`);
  story.tell(String(member(json, 'witness', 'summary')));
  story.claim(
    'not the driver but the change log of the database says so: VERIFIED at L2, with the row that was changed',
    verdict === 'VERIFIED' && level === 'L2' && member(json, 'witness', 'diff_rows') === 1,
  );
};

const bypass = async (stage: Stage, demo: DemoDatabase): Promise<void> => {
  const { story, service, adminKey } = stage;
  const alert = nextAlert(`${service.url}/v1/events?types=decoder.alert`, adminKey);
  await alert.isOpen;
  story.tell(`somebody changes a row by hand: ${BY_HAND}`);
  await asOwner(demo, BY_HAND);
  const told = await alert.told;
  const [kind, table, rows] = ['kind', 'table', 'rows'].map((name) => member(told, 'data', 'object', name));
  story.tell(
    `→ ${told === null ? 'nothing is told' : `event decoder.alert: ${String(kind)}, ${String(table)}, ${String(rows)} row`}`,
  );
  story.claim(
    'a change that passed the service by is told, by table',
    kind === 'bypass' && String(table).endsWith('customers') && rows === 1,
  );
};

interface AwaitedAlert {
  readonly isOpen: Promise<unknown>;
  /** The first event; null where none came in time. */
  readonly told: Promise<unknown>;
}

const nextAlert = (url: string, key: string): AwaitedAlert => {
  const signal = AbortSignal.timeout(ALERT_DEADLINE_MS);
  const response = fetch(url, { headers: { authorization: `Bearer ${key}` }, signal });
  const read = async (): Promise<unknown> => {
    let text = '';
    const stream = (await response).body?.pipeThrough(new TextDecoderStream()) ?? [];
    for await (const chunk of stream as AsyncIterable<string>) {
      text += chunk;
      const [, data] = /^event: decoder\.alert\n(?:.*\n)*?data: (.*)$/m.exec(text) ?? [];
      if (data !== undefined) return JSON.parse(data);
    }
    return null;
  };
  return {
    isOpen: response,
    told: read().catch((error: unknown) => {
      // Its time is over.
      if (signal.aborted) return null;
      throw error;
    }),
  };
};

/** As a person who has the password of the database. */
const asOwner = async (
  { ownerConnectionString: connectionString }: DemoDatabase,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const client = new DatabaseClient({ connectionString, application_name: 'somebody' });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};
