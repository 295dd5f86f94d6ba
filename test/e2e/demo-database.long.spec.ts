import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isEmbeddedPostgresRunning } from '#libs/infra/postgres';
import { postmasterPidIn } from '../support/own-server.js';
import { removeStateDir, startService, temporaryStateDir, type RunningService } from '../support/service.js';

const started: RunningService[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
  for (const folder of folders.splice(0)) await removeStateDir(folder);
});

const start = async (demo: 'on' | 'off'): Promise<RunningService> => {
  const stateDir = await temporaryStateDir();
  folders.push(stateDir);
  const service = await startService({ stateDir, env: { SERVICE_DEMO: demo } });
  started.push(service);
  return service;
};
const isDemoRunning = ({ stateDir }: RunningService): Promise<boolean> => isEmbeddedPostgresRunning(stateDir, 'demo');

describe('npm start', () => {
  it('brings the demo database, and takes it along when it stops', async () => {
    const service = await start('on');
    expect(await isDemoRunning(service)).toBe(true);
    await service.kill('SIGTERM');
    expect(await isDemoRunning(service)).toBe(false);
    expect(await isEmbeddedPostgresRunning(service.stateDir)).toBe(false);
  });

  it('finds it again after a kill -9 of both, and stops it all the same', async () => {
    const service = await start('on');
    await service.kill('SIGKILL');
    expect(await isDemoRunning(service)).toBe(true);
    process.kill(postmasterPidIn(join(service.stateDir, 'demo')), 'SIGKILL');
    await service.start();
    await expect.poll(() => isDemoRunning(service)).toBe(true);
    await service.kill('SIGTERM');
    expect(await isDemoRunning(service)).toBe(false);
  });

  it('leaves it out with SERVICE_DEMO=off', async () => {
    const service = await start('off');
    expect(existsSync(join(service.stateDir, 'demo'))).toBe(false);
    expect(service.stdout).toContain('"tool": "crm.get_customer"');
  });

  it('offers it by a connector and a call to paste, or says that this version has no connectors for it', async () => {
    const service = await start('on');
    const { status } = await service.call('GET', '/v1/connector-types/database', { key: service.adminKey });
    if (status === 404) {
      expect(service.stdout).toContain('this version has no connectors of the type database');
      return;
    }
    expect(service.stdout).toContain('"tool": "demo.query"');
    const connector = await service.call('GET', '/v1/connectors/demo', { key: service.adminKey });
    expect(connector.json).toMatchObject({
      type: 'database',
      config: { host: '127.0.0.1', database: 'shop', witness: { enabled: true, publication: 'ags_demo' } },
      credential: { kind: 'database' },
    });
  });
});
