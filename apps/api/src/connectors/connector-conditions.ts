import { Injectable } from '@nestjs/common';
import { ConnectorHealth, type ConnectorTest, type LiveConnector } from '#libs/domain/connectors';
import { Clock } from '#libs/domain/kernel';
import { decoderNow, type DecoderRow, DecoderRows } from '#libs/domain/witness';

/** What is known of a connector beside the log. */
export interface ConnectorCondition {
  /** Null where it was never tested. */
  readonly test: ConnectorTest | null;
  /** Null where nothing follows its change log. */
  readonly decoder: DecoderRow | null;
}

@Injectable()
export class ConnectorConditions {
  constructor(
    private readonly health: ConnectorHealth,
    private readonly decoders: DecoderRows,
    private readonly clock: Clock,
  ) {}

  async of({ id, type }: LiveConnector): Promise<ConnectorCondition> {
    const [tests, rows] = await Promise.all([
      this.health.lastOf([id]),
      type === 'database' ? this.decoders.of([id]) : new Map<typeof id, DecoderRow>(),
    ]);
    const row = rows.get(id);
    return { test: tests.get(id) ?? null, decoder: row === undefined ? null : decoderNow(row, this.clock.nowMs()) };
  }
}
