import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Module } from '@nestjs/common';
import { QueuedExecutionStarter } from '#libs/domain/gate';
import { parseConfig } from '#libs/infra/config';
import { type Deployment, InfraModule, prepareDeployment } from '#libs/infra/deployment';
import { ApiModule, ApiServer } from '../../apps/api/src/api.module.js';
import { fieldsOf } from '../../apps/api/src/http/shape.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { removeStateDir, temporaryStateDir } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { compareInterface } from './compare-interface.js';

let database: TestDatabase;
let stateDir: string;
let deployment: Deployment;
let server: ApiServer;
let baseUrl: string;
/** What the router was given, whoever gave it: `GET /v1/actions/{id}`. */
const served: string[] = [];

beforeAll(async () => {
  [database, stateDir] = await Promise.all([createTestDatabase(), temporaryStateDir()]);
  const settings = { SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0', DATABASE_URL: database.connectionString };
  const prepared = await prepareDeployment(parseConfig(settings), 'ags tests', silentLogger, () => undefined);
  deployment = prepared.deployment;
  server = new ApiServer(deployment);
  server.edge.adapter.getInstance().addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) served.push(`${name} ${url.replace(/:(\w+)/g, '{$1}')}`);
  });
  const starter = new QueuedExecutionStarter(deployment.queue, silentLogger);
  @Module({ imports: [InfraModule.forRoot(deployment, starter), ApiModule.forRoot(deployment, server.edge)] })
  class StartedModule {}
  baseUrl = await server.listen(StartedModule);
});

afterAll(async () => {
  await server?.close();
  await deployment?.close();
  await removeStateDir(stateDir);
  await database?.drop();
});

const document = async (): Promise<string> => (await fetch(`${baseUrl}/api/openapi.yaml`)).text();

describe('the api as it was started', () => {
  it('describes every route that its router serves, and no other, as each declares itself', async () => {
    const routes = server.edge.routes.entries();
    expect(compareInterface(await document(), routes, fieldsOf)).toEqual([]);
    // What was declared is what the router has, HEAD beside each GET.
    const declared = routes.map(({ method, template }) => `${method} ${template}`);
    const heads = declared.filter((name) => name.startsWith('GET ')).map((name) => name.replace('GET', 'HEAD'));
    expect(served.toSorted()).toEqual([...declared, ...heads].sort());
    expect(declared).toContain('GET /v1/actions');
  });

  it('finds a route that is not described, and one that is not served', async () => {
    const [first, ...others] = server.edge.routes.entries();
    const text = await document();
    expect(compareInterface(text, others, fieldsOf)).toEqual([
      `${first?.method} ${first?.template} is described, but not served`,
    ]);
    const cut = text.replace('  /v1/version:\n', '  /v1/versions:\n');
    expect(compareInterface(cut, server.edge.routes.entries(), fieldsOf)).toEqual([
      'GET /v1/version is served, but not described',
      'GET /v1/versions is described, but not served',
    ]);
  });
});
