import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { environmentWith } from '#libs/infra/config';
import { removeStateDir, ROOT, temporaryStateDir } from '../support/service.js';

let stateDir: string;
beforeEach(async () => {
  stateDir = await temporaryStateDir();
});
afterEach(() => removeStateDir(stateDir));

it('npm start hands a SIGTERM on: whoever stops npm stops the service, and its database', async () => {
  const env = environmentWith({ SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0' });
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(npm, 'exit') as Promise<[number | null]>;
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    npm.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes(' is up at ')) resolve();
    });
    npm.once('exit', () => reject(new Error(`npm start ended: ${printed}`)));
  });
  expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid'))).toBe(true);
  npm.kill('SIGTERM');
  await ended;
  expect(printed).toMatch(/message=stopped/);
  expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid'))).toBe(false);
});
