import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { type AgentId, Clock, FoldedStreams, type OrgId, streamRef, timestampOf } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { ReadModels } from '#libs/infra/read-models';
import { localDayAt } from './local-day.js';

/** What agents have done today, as their organization counts days: the member `usage`. */
@Injectable()
export class AgentUsage {
  constructor(
    private readonly readModels: ReadModels,
    private readonly streams: FoldedStreams,
    private readonly clock: Clock,
  ) {}

  async of(org: OrgId, agents: readonly AgentId[]): Promise<ReadonlyMap<AgentId, JsonObject>> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const timeZone = state.status === 'none' ? 'UTC' : state.timezone;
    const { day, sinceMs } = localDayAt(timeZone, this.clock.nowMs());
    const activity = await this.readModels.activityOf(org, agents, timestampOf(sinceMs));
    return new Map(
      agents.map((id) => {
        const { calls, lastActionAt } = activity.get(id) ?? { calls: 0, lastActionAt: null };
        // No call has a price yet: amounts come with the connectors that can name one.
        return [id, { day, calls, spend: [], last_action_at: lastActionAt }];
      }),
    );
  }
}
