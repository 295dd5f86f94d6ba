import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_SECRETS_FILE, keepFirstSecrets } from './first-secrets.js';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'ags-first-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

describe('the secrets of a first start', () => {
  it('are in a file that nobody else reads, and none that is there is lost', async () => {
    const path = await keepFirstSecrets(stateDir, ['  admin key         svc_live_one']);
    expect(path).toBe(join(stateDir, FIRST_SECRETS_FILE));
    await keepFirstSecrets(stateDir, ['  agent key         svc_test_two']);
    expect(await readFile(path, 'utf8')).toBe('  admin key         svc_live_one\n  agent key         svc_test_two\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('close a file that was open to others', async () => {
    const path = join(stateDir, FIRST_SECRETS_FILE);
    await writeFile(path, '');
    await chmod(path, 0o644);
    await keepFirstSecrets(stateDir, ['x']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
