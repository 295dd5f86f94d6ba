import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import type { ReplayId } from '#libs/domain/kernel';
import { type Config, environmentWith } from '../config/index.js';
import { programFile } from '../runtime/index.js';

/** What the child says when it ends by itself. */
export type ReplayExit = { readonly isDone: true } | { readonly isDone: false; readonly said: string };

export interface ReplayChild {
  readonly pid: number | undefined;
  readonly ended: Promise<ReplayExit>;
  /** Lets it save how far it came and end. */
  stop(): void;
}

/**
 * Runs a replay in a process of its own, at a low priority: neither its heap nor its processor time is the service's. It ends
 * with whoever started it, and goes on elsewhere from what it saved.
 */
export const startReplay = (
  { config, connectionString }: { readonly config: Config; readonly connectionString: string },
  id: ReplayId,
): ReplayChild => {
  const child = spawn(process.execPath, [programFile('replay-policy'), id], {
    env: environmentWith({
      SERVICE_STATE_DIR: config.stateDir,
      DATABASE_URL: connectionString,
      EVENT_STORE_URL: config.eventStoreUrl ?? '',
      SERVICE_VAULT_KEY_FILE: config.vaultKeyFile ?? '',
      SERVICE_PEPPER_FILE: config.pepperFile ?? '',
    }),
    // Its standard input ends when this process does, however that happens.
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  const said = textOf(child.stderr);
  const ended = once(child, 'close').then(
    async ([code]): Promise<ReplayExit> =>
      code === 0 ? { isDone: true } : { isDone: false, said: (await said).trim() || `exit code ${String(code)}` },
    ({ message }: Error): ReplayExit => ({ isDone: false, said: message }),
  );
  return { pid: child.pid, ended, stop: () => void child.kill('SIGTERM') };
};
