import { Injectable } from '@nestjs/common';
import { BudgetReservations, countedPeriodOf, type ApprovalReview } from '#libs/domain/gate';
import { RuleDescriptions } from '../gate/rule-descriptions.js';
import { ApprovalWarnings } from './approval-warnings.js';
import type { AboutReview, BudgetStanding } from './approval.view.js';
import { ServedDefinitions } from './served-definitions.js';

/** Finds what a person is shown of an approval beside what is decided on. */
@Injectable()
export class AboutReviews {
  constructor(
    private readonly rules: RuleDescriptions,
    private readonly warnings: ApprovalWarnings,
    private readonly budgets: BudgetReservations,
    private readonly definitions: ServedDefinitions,
  ) {}

  async of(review: ApprovalReview): Promise<AboutReview> {
    const [rule, definition, budgets] = await Promise.all([
      this.rules.ofDecision(review.rule),
      this.definitions.of(review),
      this.budgetsOf(review),
    ]);
    const warnings = await this.warnings.about(review, definition);
    return { description: rule?.description ?? null, definition, warnings, budgets };
  }

  private async budgetsOf({ action }: ApprovalReview): Promise<readonly BudgetStanding[]> {
    const used = await this.budgets.used(action.charges.map(countedPeriodOf));
    return action.charges.map((charge, index) => ({ charge, used: used[index] as number }));
  }
}
