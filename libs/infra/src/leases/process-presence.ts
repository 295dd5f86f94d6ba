import type pg from 'pg';
import { answered } from '../postgres/index.js';
import { isHeld, keyOf } from './lease-keys.js';
import type { PostgresLeases } from './postgres-leases.js';

/**
 * Shows that a process lives, by a lease of its own. The server frees the lease as soon as the process is killed in any
 * way. A process that is frozen, or whose machine vanished, keeps it. So an absent process may be taken for dead at
 * once, but a present one may not be working.
 */
export class ProcessPresence {
  private isShown = false;

  /** @param process names one run of a process: after a restart it has another name */
  constructor(
    private readonly leases: Pick<PostgresLeases, 'hold'>,
    private readonly process: string,
  ) {}

  /**
   * The name to record with work, so that other processes can find out when this one is gone; null while the lease is
   * not held.
   */
  get shownAs(): string | null {
    return this.isShown ? this.process : null;
  }

  /** Holds the lease until `signal` is aborted, and takes it again if its connection was lost. */
  async hold(signal: AbortSignal, onError: (error: unknown) => void): Promise<void> {
    const show = async (held: AbortSignal): Promise<void> => {
      this.isShown = true;
      await new Promise<void>((resolve) => {
        if (held.aborted) resolve();
        held.addEventListener('abort', () => resolve(), { once: true });
      });
      this.isShown = false;
    };
    await this.leases.hold(leaseOf(this.process), signal, show, onError);
  }
}

/** Those of these processes whose lease nobody holds. */
export const absentOf = async (pool: pg.Pool, processes: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await answered(
    pool.query<{ process: string }>(
      `select process from unnest($1::text[], $2::text[]) as asked (process, key) where not ${isHeld('asked.key')}`,
      [processes, processes.map((process) => keyOf(leaseOf(process)))],
    ),
  );
  return rows.map(({ process }) => process);
};

const leaseOf = (process: string): string => `process ${process}`;
