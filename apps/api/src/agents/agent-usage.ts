import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { LivingAgent, Money } from '#libs/domain/agents';
import { BudgetReservations, callsPerDayOf, CALLS, spendPerDayOf } from '#libs/domain/gate';
import {
  type AgentId,
  Clock,
  FoldedStreams,
  type LocalPeriod,
  localPeriodAt,
  type OrgId,
  streamRef,
  timestampOf,
} from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { ReadModels } from '#libs/infra/read-models';

/** An agent, and what bounds it. */
export type UsedAgent = Pick<LivingAgent, 'agent' | 'budgets'>;

/** What agents have done today, as their organization counts days: the member `usage`. */
@Injectable()
export class AgentUsage {
  constructor(
    private readonly readModels: ReadModels,
    private readonly streams: FoldedStreams,
    private readonly clock: Clock,
    private readonly budgets: BudgetReservations,
  ) {}

  async of(org: OrgId, agents: readonly UsedAgent[]): Promise<ReadonlyMap<AgentId, JsonObject>> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const timeZone = state.status === 'none' ? 'UTC' : state.timezone;
    const today = localPeriodAt('day', timeZone, this.clock.nowMs());
    const ids = agents.map(({ agent }) => agent);
    const [activity, charged, spend] = await Promise.all([
      this.readModels.activityOf(org, ids, timestampOf(today.startsMs)),
      this.chargedCallsOf(agents, today),
      this.spendOf(agents, today),
    ]);
    const day = today.label.slice('day:'.length);
    return new Map(
      ids.map((id) => {
        const { calls, lastActionAt } = activity.get(id) ?? { calls: 0, lastActionAt: null };
        const spent = spend.get(id);
        return [
          id,
          {
            day,
            calls,
            charged_calls: charged.get(id) ?? null,
            spend: spent === undefined ? [] : [{ ...spent }],
            last_action_at: lastActionAt,
          },
        ];
      }),
    );
  }

  /** How many calls were charged to those that have a budget of calls: what a rule denies is charged to nothing. */
  private async chargedCallsOf(
    agents: readonly UsedAgent[],
    { startsMs, endsMs }: LocalPeriod,
  ): Promise<ReadonlyMap<AgentId, number>> {
    const bounded = agents.flatMap(({ agent, budgets }) => (budgets.calls_per_day === null ? [] : [agent]));
    const used = await this.budgets.used(
      bounded.map((agent) => ({ budget: callsPerDayOf(agent), unit: CALLS, startsMs, endsMs })),
    );
    return new Map(bounded.map((agent, index) => [agent, used[index] as number] as const));
  }

  /** What was charged to those that have a budget of spend, in its currency. */
  private async spendOf(
    agents: readonly UsedAgent[],
    { startsMs, endsMs }: LocalPeriod,
  ): Promise<ReadonlyMap<AgentId, Money>> {
    const bounded = agents.flatMap(({ agent, budgets: { spend_per_day: spend } }) =>
      spend === null ? [] : [{ agent, currency: spend.currency }],
    );
    const used = await this.budgets.used(
      bounded.map(({ agent, currency: unit }) => ({ budget: spendPerDayOf(agent), unit, startsMs, endsMs })),
    );
    const spent = bounded.map(
      ({ agent, currency }, index) => [agent, { amount: used[index] as number, currency }] as const,
    );
    return new Map(spent.filter(([, { amount }]) => amount > 0));
  }
}
