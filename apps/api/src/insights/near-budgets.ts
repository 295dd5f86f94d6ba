import { Injectable } from '@nestjs/common';
import {
  type BoundedAgent,
  boundsOfAgent,
  boundsOfPolicy,
  BudgetReservations,
  chargesOf,
  type WantedCharge,
} from '#libs/domain/gate';
import { Clock } from '#libs/domain/kernel';
import type { LivingOrganization } from '#libs/domain/people';
import { CompiledPolicies, type PolicyBudget } from '#libs/domain/policies';

/** So much of a budget is used up before somebody is told. */
const NEAR = 0.9;

/** A bound of a budget in the period that goes on, and what of it is used up. */
export interface BudgetUse {
  readonly charge: WantedCharge;
  readonly used: number;
}

/** Budgets of which nine tenths or more are used up. */
@Injectable()
export class NearBudgets {
  constructor(
    private readonly budgets: BudgetReservations,
    private readonly policies: CompiledPolicies,
    private readonly clock: Clock,
  ) {}

  /** Those of the enforced policy and of these agents, the fullest first. One that allows nothing at all is never near. */
  async of(organization: LivingOrganization, agents: readonly BoundedAgent[]): Promise<readonly BudgetUse[]> {
    const bounds = [
      ...boundsOfPolicy(organization.enforced?.policy ?? null, await this.enforced(organization)),
      ...agents.flatMap(boundsOfAgent),
    ];
    const charges = chargesOf(bounds, undefined, organization.timezone, this.clock.nowMs());
    const counted = charges.map(({ budget, unit, period: { startsMs, endsMs } }) => ({
      budget,
      unit,
      startsMs,
      endsMs,
    }));
    const used = await this.budgets.used(counted);
    return charges
      .map((charge, index) => ({ charge, used: used[index] as number }))
      .filter((use) => use.used > 0 && fullness(use) >= NEAR)
      .sort((one, other) => fullness(other) - fullness(one));
  }

  private async enforced({ enforced }: LivingOrganization): Promise<readonly PolicyBudget[]> {
    if (enforced === null) return [];
    const loaded = await this.policies.load(enforced.policy, enforced.versionId);
    return loaded.isUsable ? loaded.policy.budgets : [];
  }
}

const fullness = ({ charge, used }: BudgetUse): number => used / Math.max(1, charge.limit);
