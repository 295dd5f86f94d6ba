import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { connectorDecider, connectorStreamId, isLive } from '#libs/domain/connectors';
import { ConnectorRegistry, parseToolName, type LivingAction } from '#libs/domain/gate';
import { amountsIn, FoldedStreams, streamRef, type MoneyMarks } from '#libs/domain/kernel';

/**
 * Which arguments of an action are amounts of money. Its record does not say so, and the connector as it is now does; it is
 * believed only while its tool has the digest that was judged, or approved. What has changed since is shown as it was sent.
 */
@Injectable()
export class JudgedAmounts {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly registry: ConnectorRegistry,
  ) {}

  /** @param request as it was judged; null, and without arguments, where it is stored no more */
  async of(action: LivingAction, request: JsonObject | null): Promise<JsonObject[]> {
    const args = request?.['args'];
    if (args === undefined || args === null || typeof args !== 'object' || Array.isArray(args)) return [];
    return amountsIn(args, await this.marksOf(action)).map((amount) => ({ ...amount }));
  }

  /** What is only remembered of the connector is enough: by the digest it is that tool, or none. */
  private async marksOf({ submission, approval }: LivingAction): Promise<MoneyMarks | undefined> {
    const name = parseToolName(submission.tool);
    if (submission.connector === null || name === null) return undefined;
    const ref = streamRef(connectorDecider, connectorStreamId(submission.org, name.connector));
    const { state } = await this.streams.remembered(ref);
    if (!isLive(state) || state.id !== submission.connector) return undefined;
    const tool = this.registry.driverOf(state.type)?.toolOf(state.config, name.tool);
    const isThatTool = tool?.digest === submission.tool_digest || tool?.digest === approval?.toolDigest;
    return isThatTool ? tool?.money : undefined;
  }
}
