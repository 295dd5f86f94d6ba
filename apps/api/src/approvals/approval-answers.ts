import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { ApprovalReviews, BudgetReservations, countedPeriodOf, type ApprovalReview } from '#libs/domain/gate';
import type { ApprovalId, DeedId, OrgId, UserId } from '#libs/domain/kernel';
import { ActionReader } from '../gate/action-reader.js';
import { RuleDescriptions } from '../gate/rule-descriptions.js';
import { ApprovalWarnings } from './approval-warnings.js';
import { approvalView, reviewView, type BudgetStanding } from './approval.view.js';

/** A single approval, from its action's stream as it stands now and never from a projection. */
@Injectable()
export class ApprovalAnswers {
  constructor(
    private readonly reviews: ApprovalReviews,
    private readonly actions: ActionReader,
    private readonly rules: RuleDescriptions,
    private readonly warnings: ApprovalWarnings,
    private readonly budgets: BudgetReservations,
  ) {}

  /** As an admin key sees it. @throws {DomainError} not_found */
  async plain(org: OrgId, approval: ApprovalId): Promise<JsonObject> {
    const review = await this.reviews.of(org, approval);
    return approvalView(review, await this.deedOf(review));
  }

  /** As this person sees it. @throws {DomainError} not_found */
  async forPerson(org: OrgId, approval: ApprovalId, user: UserId): Promise<JsonObject> {
    return this.shown(await this.reviews.of(org, approval), user);
  }

  /** The same of a review that is at hand. */
  async shown(review: ApprovalReview, user: UserId): Promise<JsonObject> {
    const [deed, rule, warnings, budgets] = await Promise.all([
      this.deedOf(review),
      this.rules.ofDecision(review.rule),
      this.warnings.about(review),
      this.budgetsOf(review),
    ]);
    const description = rule?.description ?? null;
    return { ...approvalView(review, deed), ...reviewView(review, user, { description, warnings, budgets }) };
  }

  private async budgetsOf({ action }: ApprovalReview): Promise<readonly BudgetStanding[]> {
    const used = await this.budgets.used(action.charges.map(countedPeriodOf));
    return action.charges.map((charge, index) => ({ charge, used: used[index] as number }));
  }

  private async deedOf({ action }: ApprovalReview): Promise<DeedId | null> {
    if (action.sealingRevision === null) return null;
    const read = await this.actions.read(action.submission.action, action.submission.org);
    return read?.deed ?? null;
  }
}
