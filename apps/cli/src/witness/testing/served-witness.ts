/** A witness behind HTTP in this process, for the tests of what it answers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrustedLogs } from '../trusted-logs.js';
import { holdState, initWitness } from '../witness-directory.js';
import { WitnessLog } from '../witness-log.js';
import { listen } from '../witness-server.js';
import { Witness } from '../witness.js';

export interface ServedWitness {
  readonly url: string;
  readonly directory: string;
  readonly lines: readonly string[];
  close(): Promise<void>;
}

const NOW_MS = 1_790_000_000_000;

export const serveHere = async (logs: TrustedLogs): Promise<ServedWitness> => {
  const directory = await mkdtemp(join(tmpdir(), 'witness-'));
  await initWitness(directory, 'witness.example/w1');
  const state = await holdState(directory);
  const lines: string[] = [];
  const nowMs = (): number => NOW_MS;
  const log = new WitnessLog((line) => lines.push(line), nowMs);
  const witness = new Witness(state.key, logs, state.checkpoints, { log, nowMs });
  const { url, close } = await listen(witness, log, { host: '127.0.0.1', port: 0 });
  const end = async (): Promise<void> => {
    await close();
    await state.release();
    await rm(directory, { recursive: true });
  };
  return { url, directory, lines, close: end };
};
