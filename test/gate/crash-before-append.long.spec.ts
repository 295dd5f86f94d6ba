import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import { parseConfig } from '#libs/infra/config';
import { Deployment } from '#libs/infra/deployment';
import { ensureDatabase } from '#libs/infra/postgres';
import { actionId, NOON_MS, reservation } from '../support/budget-rows.js';
import { environmentWith } from '../support/environment.js';
import { TEST_ORG, testId } from '../support/given-log.js';
import { startOwnServer, type OwnServer } from '../support/own-server.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, temporaryStateDir } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';

/** Several crashes, because each hits another moment of the server's background writes, which lag by at most 0.2 s. */
const CRASHES = [1, 2, 3];

describe('a database that crashes between the rows that an append names and the append, which is sent again', () => {
  let server: OwnServer;
  let stateDir: string;
  let deployment: Deployment;

  beforeAll(async () => {
    server = await startOwnServer();
    const connectionString = server.connectionString('service');
    await ensureDatabase(connectionString, silentLogger);
    stateDir = await temporaryStateDir();
    const env = environmentWith({ DATABASE_URL: connectionString, SERVICE_STATE_DIR: stateDir });
    expect(await runAgs(['init'], { env })).toMatchObject({ code: 0 });
    deployment = await Deployment.open(parseConfig(env), 'a spec', silentLogger);
    const { durable, store } = deployment.database;
    // As if a worker had folded the whole log.
    await durable.query(
      `insert into gate.checkpoint (name, store_id, position) values ('budgets', $1, $2)
       on conflict (name) do update set position = excluded.position`,
      [await store.storeId(), String(await store.head())],
    );
  });
  afterAll(async () => {
    await deployment?.close();
    await server?.dispose();
    await removeStateDir(stateDir);
  });

  const countOf = async (table: string, column: string, value: string): Promise<number> => {
    const client = new pg.Client({ connectionString: server.connectionString('service') });
    await client.connect();
    const { rows } = await client.query(`select 1 from gate.${table} where ${column} = $1`, [value]);
    await client.end();
    return rows.length;
  };

  it.each(CRASHES)('still has the budget charges of the call (crash %i)', async (number) => {
    expect(await deployment.budgets.reserve(reservation(number))).toMatchObject({ isReserved: true });
    await server.restart();
    expect(await countOf('budget_reservations', 'action', actionId(number))).toBe(1);
  });

  it.each(CRASHES)('still has the nonce of its signed intent (crash %i)', async (number) => {
    const nonce = `nonce-${number}`;
    const [reservedMs, expiresMs] = [NOON_MS, Number.MAX_SAFE_INTEGER];
    const wanted = { agent: testId('agt', 1), nonce, action: actionId(number), digest: digestOf(nonce) };
    await deployment.nonces.reserve({ ...wanted, reservedMs, expiresMs });
    await server.restart();
    expect(await countOf('intent_nonces', 'nonce', nonce)).toBe(1);
  });

  it.each(CRASHES)('still has what the approvers are shown (crash %i)', async (number) => {
    const body = `{"number":${number}}`;
    const owner = actionId(number);
    await deployment.payloads.put({ owner, org: TEST_ORG, kind: 'approval_context', digest: digestOf(body), body });
    await server.restart();
    expect(await countOf('payloads', 'owner', owner)).toBe(1);
  });
});
