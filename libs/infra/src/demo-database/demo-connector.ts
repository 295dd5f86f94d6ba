import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoDatabase } from './demo-database.js';
import { DEMO_PUBLICATION } from './demo-schema.js';

export const DEMO_CONNECTOR = 'demo';
const TYPE = 'database';
const NOT_FOUND = 404;
const READY_DEADLINE_MS = 20_000;
const LOOK_AGAIN_MS = 250;
const DESCRIPTION = 'An invented shop, to try agents on';

/** The public API, as an admin calls it: with a key, or in a session. */
export type CallAsAdmin = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH',
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }>;

/**
 * `done`: made now. `changed`: led to where the database is now. `skipped`: was as it must be. `taken`: there is another
 * connector of that name, which is left alone.
 */
export type DemoConnectorStatus = 'done' | 'changed' | 'skipped' | 'taken';

/** What the API answered, in the words of its envelope. */
export class DemoConnectorRefused extends Error {
  override readonly name = 'DemoConnectorRefused';
}

/**
 * Makes the connector `demo` with its credential, or leads one that is there to where the database listens now. Done
 * again it changes nothing.
 * @throws {DemoConnectorRefused}
 */
export const ensureDemoConnector = async (call: CallAsAdmin, demo: DemoDatabase): Promise<DemoConnectorStatus> => {
  const path = `/v1/connectors/${DEMO_CONNECTOR}`;
  const found = await call('GET', path);
  if (found.status === NOT_FOUND) {
    const body = { type: TYPE, name: DEMO_CONNECTOR, description: DESCRIPTION, config: configOf(demo) };
    accepted(await call('POST', '/v1/connectors', body));
    accepted(await call('PUT', `${path}/credentials`, credentialOf(demo)));
    return 'done';
  }
  const connector = accepted(found);
  return connector['type'] === TYPE ? adjusted(call, path, connector, demo) : 'taken';
};

/**
 * Waits until a decoder follows its change log, and has it tested: from then on its calls are taken, and changes confirmed.
 * @throws {DemoConnectorRefused} it is not ready in time; the message says what is missing
 */
export const untilDemoIsReady = async (call: CallAsAdmin, deadlineMs = READY_DEADLINE_MS): Promise<void> => {
  const path = `/v1/connectors/${DEMO_CONNECTOR}`;
  for (const startedAt = performance.now(); ; await sleep(LOOK_AGAIN_MS)) {
    const { witness } = accepted(await call('GET', path));
    const status = (witness as { status?: unknown } | undefined)?.status;
    if (status === 'healthy' || performance.now() - startedAt > deadlineMs) break;
  }
  // What keeps a decoder from following is what the test finds.
  const { status, checks } = accepted(await call('POST', `${path}/test`));
  if (status !== 'failing') return;
  const fault = (checks as readonly { status: string; detail: string }[]).find((check) => check.status === 'failed');
  throw new DemoConnectorRefused(
    `The connector ${DEMO_CONNECTOR} is not ready: ${fault?.detail ?? 'its test failed.'}`,
  );
};

const adjusted = async (
  call: CallAsAdmin,
  path: string,
  { config, credential, config_hash: seen, health }: Readonly<Record<string, unknown>>,
  demo: DemoDatabase,
): Promise<DemoConnectorStatus> => {
  const stored = config as Readonly<Record<string, unknown>>;
  const { host, port, database } = demo;
  const hasMoved = stored['host'] !== host || stored['port'] !== port || stored['database'] !== database;
  // What an admin has set otherwise stays: only the place is the demo's to say.
  if (hasMoved) {
    const body = { config: { ...stored, host, port, database }, expected_config_hash: seen };
    accepted(await call('PATCH', path, body));
  }
  const isFailing = (health as { status?: unknown } | undefined)?.status === 'failing';
  if (!hasMoved && !demo.isNew && credential !== null && !isFailing) return 'skipped';
  // A demo that was made anew has a new password; nobody can read the stored one to compare.
  accepted(await call('PUT', `${path}/credentials`, credentialOf(demo)));
  return 'changed';
};

const configOf = ({ host, port, database }: DemoDatabase): object => ({
  host,
  port,
  database,
  // It listens on the loopback of this machine alone.
  ssl: 'disable',
  schemas: ['public'],
  witness: { enabled: true, slot: DEMO_PUBLICATION, publication: DEMO_PUBLICATION },
  watch_bypass: true,
});

const credentialOf = ({ agent, witness }: DemoDatabase): object => ({
  kind: TYPE,
  secret: {
    username: agent.username,
    password: agent.password,
    witness_username: witness.username,
    witness_password: witness.password,
  },
});

const accepted = ({ status, json }: Awaited<ReturnType<CallAsAdmin>>): Readonly<Record<string, unknown>> => {
  if (status < 300) return json;
  const { code, message } = (json['error'] ?? {}) as { code?: unknown; message?: unknown };
  throw new DemoConnectorRefused(`The connector ${DEMO_CONNECTOR} was refused (${String(code)}): ${String(message)}`);
};
