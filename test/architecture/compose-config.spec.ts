import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

/** Needs no engine. The client alone has no `compose`: that is a plugin of its own, of version 2. */
const version = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' });
const isThere = version.status === 0;
const title = isThere ? `docker compose ${version.stdout.trim()}` : 'docker compose is not there: skipped';

interface Resolved {
  readonly services: Readonly<Record<string, { readonly deploy?: { readonly replicas?: number } }>>;
}

/** What compose makes of the files, without this machine's environment. */
const config = (args: readonly string[], variables: Readonly<Record<string, string>>) => {
  // Where a person keeps plugins is found by HOME or DOCKER_CONFIG.
  const { PATH, HOME, DOCKER_CONFIG } = process.env;
  const env = { PATH, HOME, DOCKER_CONFIG, COMPOSE_DISABLE_ENV_FILE: '1', ...variables };
  const { status, stdout, stderr } = spawnSync('docker', ['compose', ...args, 'config', '--format', 'json'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  return { status, stderr, replicas: status === 0 ? replicasIn(JSON.parse(stdout) as Resolved) : {} };
};

const replicasIn = ({ services }: Resolved): Record<string, number> =>
  Object.fromEntries(Object.entries(services).map(([name, { deploy }]) => [name, deploy?.replicas ?? 1]));

const DISTRIBUTED = ['-f', 'docker-compose.distributed.yml'];
const POSTGRES_PASSWORD = { POSTGRES_PASSWORD: 'one' };

describe.skipIf(!isThere)(title, () => {
  it('takes docker-compose.yml as it is, once it has a password', () => {
    expect(config([], {}).stderr).toMatch(/POSTGRES_PASSWORD/);
    expect(config([], POSTGRES_PASSWORD)).toEqual({ status: 0, stderr: '', replicas: { postgres: 1, service: 1 } });
  });

  it('makes one node of KurrentDB and the programs of docker-compose.distributed.yml', () => {
    expect(config(DISTRIBUTED, {}).stderr).toMatch(/POSTGRES_PASSWORD/);
    expect(config(DISTRIBUTED, POSTGRES_PASSWORD)).toEqual({
      status: 0,
      stderr: '',
      replicas: { postgres: 1, redis: 1, kurrentdb: 1, init: 1, api: 1, worker: 2, projector: 2 },
    });
  });

  it('makes as many of each as are wanted', () => {
    const wanted = { APIS: '3', API_PORTS: '8080-8082', WORKERS: '4', PROJECTORS: '1' };
    const { status, replicas } = config(DISTRIBUTED, { ...POSTGRES_PASSWORD, ...wanted });
    expect([status, replicas]).toEqual([0, expect.objectContaining({ api: 3, worker: 4, projector: 1 })]);
  });

  it('makes three nodes with docker-compose.cluster.env, and no other, once they have a password', () => {
    const args = [...DISTRIBUTED, '--env-file', 'docker-compose.cluster.env'];
    expect(config(args, POSTGRES_PASSWORD).stderr).toMatch(/KURRENTDB_PASSWORD/);
    const nodes = { kurrentdb: 0, 'kurrentdb-1': 1, 'kurrentdb-2': 1, 'kurrentdb-3': 1, certificates: 1 };
    expect(config(args, { ...POSTGRES_PASSWORD, KURRENTDB_PASSWORD: 'two' })).toEqual({
      status: 0,
      stderr: '',
      replicas: { postgres: 1, redis: 1, init: 1, api: 1, worker: 2, projector: 2, ...nodes },
    });
  });
});
