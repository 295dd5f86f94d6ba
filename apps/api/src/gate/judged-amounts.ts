import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { connectorDecider, connectorStreamId, isLive } from '#libs/domain/connectors';
import { ConnectorRegistry, parseToolName, type LivingAction } from '#libs/domain/gate';
import { amountsIn, FoldedStreams, streamRef, type MoneyMarks } from '#libs/domain/kernel';

/**
 * Finds the arguments of an action that are amounts of money. The action's record does not mark them, so the current
 * connector is asked. Its marks are used only if its tool still has the digest that was judged or approved; otherwise
 * no amount is shown.
 */
@Injectable()
export class JudgedAmounts {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly registry: ConnectorRegistry,
  ) {}

  /** @param request the judged request; null if it is no longer stored, or `{removed: true}` without arguments */
  async of(action: LivingAction, request: JsonObject | null): Promise<JsonObject[]> {
    const args = request?.['args'];
    if (args === undefined || args === null || typeof args !== 'object' || Array.isArray(args)) return [];
    return amountsIn(args, await this.marksOf(action)).map((amount) => ({ ...amount }));
  }

  /** A cached connector is enough, because the digest tells whether its tool is the one that was judged. */
  private async marksOf({ submission, approval }: LivingAction): Promise<MoneyMarks | undefined> {
    const name = parseToolName(submission.tool);
    if (submission.connector === null || name === null) return undefined;
    const ref = streamRef(connectorDecider, connectorStreamId(submission.org, name.connector));
    const { state } = await this.streams.remembered(ref);
    if (!isLive(state) || state.id !== submission.connector) return undefined;
    const tool = this.registry.driverOf(state.type)?.toolOf(state, name.tool);
    const isThatTool = tool?.digest === submission.tool_digest || tool?.digest === approval?.toolDigest;
    return isThatTool ? tool?.money : undefined;
  }
}
