import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { environmentWith } from '../support/environment.js';
import { removeStateDir, ROOT, temporaryStateDir } from '../support/service.js';

let stateDir: string;
beforeEach(async () => {
  stateDir = await temporaryStateDir();
});
afterEach(() => removeStateDir(stateDir));

it('npm start hands a SIGTERM on: whoever stops npm stops the service, and its database; a first start says how to call it', async () => {
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
  const [, address = ''] = / is up at (\S+)/.exec(printed) ?? [];
  // What one does next: by a shell, and by an MCP client.
  expect(printed).toContain(`  curl -s ${address}/v1/actions `);
  expect(printed).toContain(`  claude mcp add --transport http ags ${address}/mcp --header "Authorization: Bearer `);
  expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid'))).toBe(false);
});
