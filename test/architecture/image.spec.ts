import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS_HELP } from '#libs/infra/config';
import { ROOT } from '../support/service.js';

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}

const text = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(text('docker-compose.yml')) as {
  services: Readonly<Record<string, Service>>;
  volumes: Readonly<Record<string, null>>;
};
const dockerfile = text('Dockerfile');
const settings = SETTINGS_HELP.map(({ variable }) => variable);

describe('docker-compose.yml and Dockerfile', () => {
  it('set no setting that there is not', () => {
    const used = [
      ...Object.keys(compose.services['service']?.environment ?? {}),
      ...[...dockerfile.matchAll(/\b(SERVICE_[A-Z_]+)\b/g)].map(([, name]) => name as string),
    ];
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !settings.includes(name))).toEqual([]);
  });

  it('start the database as the event store and the witness need it, at a pinned version', () => {
    expect(compose.services['postgres']?.command).toEqual(['postgres', '-c', 'wal_level=logical']);
    expect(compose.services['postgres']?.image).toMatch(/^postgres:18\.\d+$/);
    expect(dockerfile).not.toMatch(/^FROM \S+:latest|^FROM [^:\s]+$/m);
  });

  it('run a program of this tree as an ordinary user, its keys in a volume', () => {
    const [, program = ''] = /^CMD \["sh", "scripts\/serve\.sh", "(\S+)"\]$/m.exec(dockerfile) ?? [];
    const [, entry = ''] = new RegExp(`^  ${program}: '(\\S+)\\.js',$`, 'm').exec(text('scripts/bundle.mjs')) ?? [];
    expect(existsSync(join(ROOT, `${entry}.ts`))).toBe(true);
    expect(dockerfile).toMatch(/^USER node$/m);
    const [, stateDir = ''] = /SERVICE_STATE_DIR=(\S+)/.exec(dockerfile) ?? [];
    expect(compose.services['service']?.volumes).toEqual([`state:${stateDir}`]);
    expect(Object.keys(compose.volumes)).toEqual(['database', 'state']);
  });
});
