import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig, problemsOfSettings, SETTINGS_HELP } from '#libs/infra/config';
import { composeFile, type ComposeService, envFile, interpolated, variable } from '../support/compose-file.js';
import { ROOT } from '../support/service.js';

const { services, networks, secrets } = composeFile('docker-compose.distributed.yml');
const cluster = envFile('docker-compose.cluster.env');
const text = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

const PASSWORDS = { POSTGRES_PASSWORD: '5ec', KURRENTDB_PASSWORD: 'r37' };
const PROGRAMS = ['init', 'api', 'worker', 'projector'];
const STORES = ['postgres', 'redis', 'kurrentdb', 'kurrentdb-1', 'kurrentdb-2', 'kurrentdb-3'];
const NODES = STORES.slice(3);

const service = (name: string): ComposeService => {
  const found = services[name];
  if (found === undefined) throw new Error(`there is no service ${name}`);
  return found;
};

/** What a program of ours gets to see, beside the settings that the image makes. */
const settingsOf = (name: string, variables: Readonly<Record<string, string>>): Record<string, string> => {
  const written = Object.entries(service(name).environment ?? {});
  return Object.fromEntries(written.map(([setting, value]) => [setting, interpolated(value, variables)]));
};

/** Variables of the env file, in which another may stand. */
const clusterVariables = (): Record<string, string> => {
  const read = Object.entries(cluster).map(([name, value]) => [name, interpolated(value, PASSWORDS)]);
  return { ...PASSWORDS, ...Object.fromEntries(read) } as Record<string, string>;
};

const secondsOf = (time = ''): number => Number(/^(\d+)s$/.exec(time)?.[1]);

it('the services are the programs, their stores and what makes certificates', () => {
  expect(Object.keys(services).sort()).toEqual([...PROGRAMS, ...STORES, 'certificates'].sort());
});

describe('every service of docker-compose.distributed.yml', () => {
  it.each(Object.keys(services))('%s has an image of one version, or is built here', (name) => {
    const { image } = service(name);
    if (PROGRAMS.includes(name)) expect(image).toBe(`ags:${variable('AGS_VERSION:-local')}`);
    else expect(image).toMatch(/^[a-z0-9./-]+:\d+\.\d+(?:\.\d+)?$/);
  });

  it.each(Object.keys(services))('%s starts however many files the engine lets it open', (name) => {
    expect(service(name)).not.toHaveProperty('ulimits');
  });

  it.each(Object.keys(services))('%s gets no rights that it has not', (name) => {
    const { security_opt: options, privileged } = service(name);
    expect([options, privileged]).toEqual([['no-new-privileges:true'], undefined]);
  });

  it.each(Object.keys(services).filter((name) => name !== 'certificates'))(
    '%s stands in the network it needs',
    (name) => {
      expect(networks['stores']).toEqual({ internal: true });
      const mayLeave = ['api', 'worker'].includes(name);
      expect(service(name).networks).toEqual(mayLeave ? ['stores', 'outside'] : ['stores']);
    },
  );

  it('holds no secret: each is a variable that has none when it is not set', () => {
    const values = [cluster, ...Object.values(services).map(({ environment }) => environment ?? {})].flatMap(
      Object.entries<string>,
    );
    const found = values.flatMap(([name, value]) => {
      if (name.includes('PASSWORD')) return [value];
      return /:\/\/[^/@:]*:([^@]*)@/.exec(value)?.slice(1) ?? [];
    });
    expect(found).toHaveLength(PROGRAMS.length + 1 + 2 * NODES.length + 1);
    expect(found.filter((value) => !/^\$\{[A-Z_]+(?::-|:\?[^}]+)?\}$/.test(value))).toEqual([]);
  });

  it('is reached from this machine alone, and by the api alone', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
      ['api', [`127.0.0.1:${variable('API_PORTS:-8080')}:8080`]],
    ]);
  });
});

describe('a program of docker-compose.distributed.yml', () => {
  const image = text('Dockerfile');

  it.each(PROGRAMS)('%s is one of this tree', (name) => {
    const command = service(name).command?.join(' ') ?? '';
    const begin = name === 'init' ? /^node dist\/programs\/(cli)\.js init$/ : /^sh scripts\/serve\.sh (\S+)$/;
    const [, program = ''] = begin.exec(command) ?? [];
    const [, entry = ''] = new RegExp(`^  '?${program}'?: '(\\S+)\\.js',$`, 'm').exec(text('scripts/bundle.mjs')) ?? [];
    expect(existsSync(join(ROOT, `${entry}.ts`))).toBe(true);
  });

  it('is of the one image that init builds, which is in no registry', () => {
    expect(PROGRAMS.map((name) => [name, service(name).build, service(name).pull_policy])).toEqual(
      PROGRAMS.map((name) => [name, name === 'init' ? '.' : undefined, 'never']),
    );
  });

  it.each(PROGRAMS)('%s has settings that there are, and that it can be started with', (name) => {
    const known = SETTINGS_HELP.map((setting) => setting.variable);
    expect(Object.keys(service(name).environment ?? {}).filter((setting) => !known.includes(setting))).toEqual([]);
    for (const variables of [PASSWORDS, clusterVariables()]) {
      expect(problemsOfSettings(settingsOf(name, variables))).toEqual([]);
    }
  });

  it.each(PROGRAMS)(
    '%s runs as the image’s ordinary user, on a file system that is read-only, with no rights',
    (name) => {
      const { user, read_only: isReadOnly, tmpfs, cap_drop: dropped, cap_add: added } = service(name);
      expect({ user, isReadOnly, tmpfs, dropped, added }).toEqual({
        isReadOnly: true,
        tmpfs: ['/tmp'],
        dropped: ['ALL'],
      });
      expect(image).toMatch(/^USER node$/m);
    },
  );

  it.each(PROGRAMS)('%s has the key files of all, and the state directory where it writes', (name) => {
    const { secrets: given, volumes } = service(name);
    const [, stateDir = ''] = /SERVICE_STATE_DIR=(\S+)/.exec(image) ?? [];
    const { SERVICE_VAULT_KEY_FILE: vaultKey, SERVICE_PEPPER_FILE: pepper } = settingsOf(name, PASSWORDS);
    expect([vaultKey, pepper]).toEqual(given?.map((secret) => `/run/secrets/${secret}`));
    const writes = ['init', 'worker'].includes(name);
    expect(volumes).toEqual([`state:${stateDir}${writes ? '' : ':ro'}`, 'certificates:/certificates:ro']);
  });

  it.each(PROGRAMS)('%s begins when its stores answer', (name) => {
    const { init, ...stores } = service(name).depends_on ?? {};
    expect(Object.keys(stores).sort()).toEqual([...STORES].sort());
    expect([...new Set(Object.values(stores).map(({ condition }) => condition))]).toEqual(['service_healthy']);
    expect(
      Object.entries(stores)
        .filter(([, { required }]) => required !== false)
        .map(([store]) => store),
    ).toEqual(['postgres', 'redis']);
    expect(init?.condition).toBe(name === 'init' ? undefined : 'service_completed_successfully');
  });

  it.each(['api', 'worker', 'projector'])(
    '%s is started again, looked after, as many as are wanted, and left time to end',
    (name) => {
      const { restart, deploy, stop_grace_period: grace, healthcheck } = service(name);
      expect([restart, deploy?.replicas]).toEqual(['unless-stopped', expect.stringMatching(/^\$\{[A-Z]+:-[1-9]\}$/)]);
      const { drainTimeoutMs } = parseConfig({});
      // Closing takes up to 6 s after that (libs/infra/src/deployment/program.ts).
      expect(secondsOf(grace) * 1_000).toBeGreaterThan(drainTimeoutMs + 6_000);
      const test = healthcheck?.test?.join(' ') ?? /^HEALTHCHECK .*$/m.exec(image)?.[0] ?? '';
      const { metricsAddress } = parseConfig(settingsOf(name, PASSWORDS));
      expect(test).toContain(name === 'api' ? '/v1/health' : `http://${metricsAddress?.toString()}/ready`);
    },
  );

  it('that prepares the deployment runs once', () => {
    expect([service('init').restart, service('init').healthcheck]).toEqual(['no', { disable: true }]);
  });
});

describe('the stores of docker-compose.distributed.yml', () => {
  it.each(STORES)('%s keeps what it has in a volume of its own, is looked after and started again', (name) => {
    const { volumes = [], healthcheck, restart } = service(name);
    const others = STORES.filter((store) => store !== name).flatMap((store) => service(store).volumes ?? []);
    const own = volumes.filter((volume) => !volume.startsWith('certificates:') && !others.includes(volume));
    expect(own).toEqual([
      expect.stringMatching(/^(?:database:\/var\/lib\/postgresql|bell:\/data|log(?:-\d)?:\/var\/lib\/kurrentdb)$/),
    ]);
    expect([healthcheck?.test?.length, restart]).toEqual([expect.any(Number), 'unless-stopped']);
  });

  it('PostgreSQL 18 writes its log for the witness, and asks everybody for a password by SCRAM', () => {
    const { image, command, environment } = service('postgres');
    expect([image, command]).toEqual([
      expect.stringMatching(/^postgres:18\.\d+$/),
      ['postgres', '-c', 'wal_level=logical'],
    ]);
    expect([environment?.['POSTGRES_INITDB_ARGS'], environment?.['POSTGRES_HOST_AUTH_METHOD']]).toEqual([
      '--auth=scram-sha-256',
      'scram-sha-256',
    ]);
    expect(service('postgres').image).toBe(composeFile('docker-compose.yml').services['postgres']?.image);
  });

  it('PostgreSQL is well when it answers by TCP: while it is made, it answers on its socket alone', () => {
    for (const file of ['docker-compose.yml', 'docker-compose.distributed.yml']) {
      const test = composeFile(file).services['postgres']?.healthcheck?.test;
      expect([file, test?.slice(0, 3)]).toEqual([file, ['CMD', 'pg_isready', '--host=127.0.0.1']]);
    }
  });

  it('Redis keeps its keys over a restart, and drops none', () => {
    expect(service('redis').command?.join(' ')).toMatch(/--appendonly yes .*--maxmemory-policy noeviction$/);
  });

  it('KurrentDB is one node, unless the profile is chosen', () => {
    const { profiles, environment, deploy } = service('kurrentdb');
    expect([profiles, environment?.['KURRENTDB_CLUSTER_SIZE'], deploy?.replicas]).toEqual([
      undefined,
      undefined,
      variable('KURRENTDB_SINGLE_NODES:-1'),
    ]);
    expect(settingsOf('api', PASSWORDS)['EVENT_STORE_URL']).toBe('esdb://kurrentdb:2113?tls=false');
    expect(environment?.['KURRENTDB_INSECURE']).toBe('true');
  });

  it('the profile is three nodes that know each other, and the settings that lead to them', () => {
    const chosen = Object.keys(services).filter((name) => service(name).profiles !== undefined);
    expect(chosen.sort()).toEqual(['certificates', ...NODES]);
    expect([...new Set(chosen.flatMap((name) => service(name).profiles))]).toEqual([cluster['COMPOSE_PROFILES']]);
    expect(interpolated(service('kurrentdb').deploy?.replicas ?? '', cluster)).toBe('0');
    expect(settingsOf('api', clusterVariables())['EVENT_STORE_URL']).toBe(
      `esdb://admin:${PASSWORDS.KURRENTDB_PASSWORD}@${NODES.map((node) => `${node}:2113`).join(',')}?tls=true&tlsCAFile=/certificates/ca/ca.crt`,
    );
    expect(() => interpolated(cluster['EVENT_STORE_URL'] ?? '', {})).toThrow(/KURRENTDB_PASSWORD/);
  });

  it.each(NODES)('%s is told who it is and who the others are, and encrypts', (name) => {
    const environment = service(name).environment ?? {};
    const others = NODES.filter((node) => node !== name).map((node) => `${node}:2113`);
    expect(environment).toMatchObject({
      KURRENTDB_CLUSTER_SIZE: String(NODES.length),
      KURRENTDB_GOSSIP_SEED: others.join(','),
      KURRENTDB_NODE_HOST_ADVERTISE_AS: name,
      KURRENTDB_REPLICATION_HOST_ADVERTISE_AS: name,
      KURRENTDB_CERTIFICATE_FILE: `/certificates/${name}/node.crt`,
      KURRENTDB_CERTIFICATE_PRIVATE_KEY_FILE: `/certificates/${name}/node.key`,
      KURRENTDB_TRUSTED_ROOT_CERTIFICATES_PATH: '/certificates/ca',
      // The servers' own are known to everybody.
      KURRENTDB_DEFAULT_ADMIN_PASSWORD: variable('KURRENTDB_PASSWORD:-'),
      KURRENTDB_DEFAULT_OPS_PASSWORD: variable('KURRENTDB_PASSWORD:-'),
    });
    expect(environment).not.toHaveProperty('KURRENTDB_INSECURE');
    expect(service(name).depends_on).toEqual({ certificates: { condition: 'service_completed_successfully' } });
  });
});

it.each(NODES)('%s does not wait for the name of a node that is gone', (name) => {
  expect(service(name).dns_opt).toEqual(['timeout:1', 'attempts:1']);
});

describe('the key files', () => {
  it('are neither committed nor sent to who builds the image', () => {
    expect(Object.values(secrets).map(({ file }) => file)).toEqual(['./secrets/vault.key', './secrets/pepper.key']);
    for (const name of ['.gitignore', '.dockerignore']) {
      expect(
        text(name)
          .split('\n')
          .map((line) => line.replace(/\/$/, '')),
      ).toEqual(expect.arrayContaining(['secrets', '.env']));
    }
  });
});

it('docs/deployment.md names every variable, and no other', () => {
  const written = text('docker-compose.distributed.yml') + text('docker-compose.cluster.env');
  const rows = text('docs/deployment.md').match(/^\| (?:`[A-Z_]+`(?:, )?)+ \|/gm) ?? [];
  const named = rows.flatMap((row) => row.match(/[A-Z_]{4,}/g) ?? []);
  const used = [...written.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
  expect(named.sort()).toEqual([...new Set(used)].sort());
});
