import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readConfig } from '#libs/domain/connectors';
import { derivedId, operatorMetadata, timestampOf } from '#libs/domain/kernel';
import { parseConfig } from '#libs/infra/config';
import { type Deployment, prepareDeployment } from '#libs/infra/deployment';
import { Projector } from '../../apps/projector/src/projector.module.js';
import { Worker } from '../../apps/worker/src/worker.module.js';
import { createWholeDatabase, type TestDatabase } from '../support/database.js';
import { type ScriptedServer, startScriptedServer } from '../support/mcp-server.js';
import { removeStateDir, temporaryStateDir } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';

const PATIENCE = { timeout: 20_000, interval: 20 };

let database: TestDatabase;
let stateDir: string;
let server: ScriptedServer;
let deployment: Deployment;
let projector: Projector;
let worker: Worker;

beforeAll(async () => {
  [database, stateDir, server] = await Promise.all([createWholeDatabase(), temporaryStateDir(), startScriptedServer()]);
});
afterAll(async () => {
  await worker?.stop(5_000);
  await projector?.stop();
  await deployment?.close();
  await server?.close();
  await removeStateDir(stateDir);
  await database?.drop();
});

it('a worker that starts asks the server of a connector whose process was killed before it could', async () => {
  const settings = { SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0', DATABASE_URL: database.connectionString };
  const prepared = await prepareDeployment(parseConfig(settings), 'ags tests', silentLogger, () => undefined);
  deployment = prepared.deployment;
  const { org } = prepared.prepared;
  // By the command alone: what else a process does when a connector is made is what never happened.
  const url = server.url.replace('mcp.example', '127.0.0.1');
  const { config, configHash } = readConfig('mcp_http', { url, auth: { kind: 'none' } }, { isProduction: false });
  const metadata = { ...operatorMetadata(deployment, org), now: timestampOf(Date.now() - 120_000) };
  const named = { org, connector: derivedId('con', metadata.commandId), name: 'srv' };
  const data = { ...named, type: 'mcp_http' as const, description: null, config, configHash };
  await deployment.connectors.run(org, 'srv', { type: 'CreateConnector', data, metadata });

  projector = new Projector(deployment);
  await projector.start();
  await vi.waitFor(async () => {
    const { rows } = await deployment.database.relaxed.query('select from read_models.connectors');
    expect(rows).toHaveLength(1);
  }, PATIENCE);
  worker = new Worker(deployment);
  await worker.start();
  await vi.waitFor(async () => {
    const { discovered } = await deployment.connectors.live({ org, name: 'srv', connector: null });
    expect(discovered?.tools.map(({ name }) => name)).toEqual(['search']);
  }, PATIENCE);
});
