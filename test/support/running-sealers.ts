import { NO_METER } from '#libs/domain/kernel';
import { SealKeyAdministration } from '#libs/domain/ledger';
import { SystemClock } from '#libs/infra/runtime';
import { SealingLoop } from '../../apps/worker/src/ledger/sealing-loop.js';
import type { HeldProgress, LedgerBench } from './ledger-fixtures.js';
import { silentLogger } from './silent-logger.js';

const RETRY_INTERVAL_MS = 20;

/** Terms of sealers on one log, each a new process. */
export class RunningSealers {
  sweepsEnded = 0;
  private stopping = new AbortController();
  private loops: Promise<void>[] = [];

  constructor(private readonly progress: HeldProgress) {}

  /** @param machine whose keys it signs with, and which remembers where the ledgers ended */
  start(machine: LedgerBench): void {
    const { store, profile, runner, streams, keys } = machine;
    const loop = new SealingLoop({
      store,
      appends: profile.appends,
      sealer: machine.sealer(),
      sealKeys: new SealKeyAdministration(runner, streams, keys),
      progress: this.progress,
      clock: new SystemClock(),
      logger: silentLogger,
      meter: { ...NO_METER, sweepEnded: () => void (this.sweepsEnded += 1) },
      retryIntervalMs: RETRY_INTERVAL_MS,
    });
    this.loops.push(loop.run(this.stopping.signal));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops);
    this.stopping = new AbortController();
    this.loops = [];
  }
}
