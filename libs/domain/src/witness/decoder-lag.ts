import { bytesOfLsn } from './log-position.js';

/** How far a decoder may be behind before somebody is told. */
export const LAG_BYTES_MAX = 16 * 1024 * 1024;
export const LAG_MS_MAX = 10_000;
/** The end of what is remembered of the log, where nothing of it is reached: one in each {@link LAG_MS_MAX} is plenty. */
const HEADS_MAX = 600;

export interface Lag {
  readonly bytes: number;
  /** For how long the log has been further than the decoder is. */
  readonly ms: number;
}

/**
 * How far a decoder is behind its log. Its position says nothing of time, so the ends that the log had are kept until the
 * decoder has passed them. Times are of one monotonic clock.
 */
export class LagGauge {
  /** Ends of the log that are not reached, oldest first. */
  private heads: { readonly bytes: bigint; readonly sinceMs: number }[] = [];
  private position = 0n;
  private last = 0n;

  /** The decoder has read, and recorded what it had to, up to here. */
  reached(position: string): void {
    const bytes = bytesOfLsn(position);
    if (bytes > this.position) this.position = bytes;
    this.heads = this.heads.filter((head) => head.bytes > this.position);
  }

  /** The log stands here. */
  seen(head: string, nowMs: number): void {
    const bytes = bytesOfLsn(head);
    this.last = bytes;
    if (bytes <= this.position || bytes <= (this.heads.at(-1)?.bytes ?? 0n)) return;
    if (this.heads.length < HEADS_MAX) this.heads.push({ bytes, sinceMs: nowMs });
  }

  now(nowMs: number): Lag {
    const behind = this.last > this.position ? this.last - this.position : 0n;
    return { bytes: Number(behind), ms: nowMs - (this.heads[0]?.sinceMs ?? nowMs) };
  }
}

/**
 * Whether somebody should be told. Whoever is told is told again only when half of what is allowed is left: at the limit
 * one would hear of it all the time.
 */
export const isLagging = ({ bytes, ms }: Lag, wasLagging: boolean): boolean => {
  const share = wasLagging ? 2 : 1;
  return bytes > LAG_BYTES_MAX / share || ms > LAG_MS_MAX / share;
};
