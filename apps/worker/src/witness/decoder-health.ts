import type { Clock, Meter } from '#libs/domain/kernel';
import {
  type DecoderAddress,
  type DecoderLog,
  type DecoderReason,
  type DecoderRows,
  decoderStatusOf,
  isLagging,
  type Lag,
} from '#libs/domain/witness';

export interface HealthParts {
  readonly log: Pick<DecoderLog, 'health'>;
  readonly rows: Pick<DecoderRows, 'save'>;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'decoderStands'>;
}

/** How one decoder is, as it tells metrics, its row and, where it changes, the log. */
export class DecoderHealth {
  private isBehind = false;
  /** What the log was told last; undefined: this process has told it nothing. */
  private told: DecoderReason | null | undefined = undefined;
  /** Since when there has been no connection, by the monotonic clock; null while there is one. */
  private apartSinceMs: number | null;

  constructor(
    private readonly parts: HealthParts,
    private readonly of: DecoderAddress,
    private readonly graceMs: number,
  ) {
    this.apartSinceMs = parts.clock.monotonicMs();
  }

  connected(): void {
    this.apartSinceMs = null;
  }

  /** The log is followed, and this is how far the decoder is behind it. */
  follows(lag: Lag, position: string | null): Promise<void> {
    this.isBehind = isLagging(lag, this.isBehind);
    return this.say(this.isBehind ? 'slot_lagging' : null, lag, position);
  }

  /** The log cannot be followed. A connection that is back within the grace was never away. */
  async apart(): Promise<void> {
    this.apartSinceMs ??= this.parts.clock.monotonicMs();
    if (this.parts.clock.monotonicMs() - this.apartSinceMs < this.graceMs) return;
    await this.say('decoder_down', null, null);
  }

  lost(reason: 'slot_invalidated' | 'log_restored'): Promise<void> {
    return this.say(reason, null, null);
  }

  private async say(reason: DecoderReason | null, lag: Lag | null, position: string | null): Promise<void> {
    const { log, rows, clock, meter } = this.parts;
    const status = decoderStatusOf(reason);
    const lagBytes = lag?.bytes ?? null;
    if (status !== 'off') {
      meter.decoderStands(this.of.connector, { status, lagBytes: lagBytes ?? 0, lagMs: lag?.ms ?? 0 });
    }
    if (reason !== this.told) {
      await log.health(this.of, reason, lagBytes);
      this.told = reason;
    }
    await rows.save({ ...this.of, reason, lagBytes, position }, clock.nowMs());
  }
}
