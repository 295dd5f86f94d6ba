import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { ApprovalReviews, type ApprovalReview } from '#libs/domain/gate';
import type { ApprovalId, DeedId, OrgId, UserId } from '#libs/domain/kernel';
import { ActionReader } from '../gate/action-reader.js';
import { AboutReviews } from './about-reviews.js';
import { approvalView, reviewView } from './approval.view.js';

/** A single approval, from its action's stream as it stands now and never from a projection. */
@Injectable()
export class ApprovalAnswers {
  constructor(
    private readonly reviews: ApprovalReviews,
    private readonly actions: ActionReader,
    private readonly about: AboutReviews,
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
    const [deed, about] = await Promise.all([this.deedOf(review), this.about.of(review)]);
    return { ...approvalView(review, deed), ...reviewView(review, user, about) };
  }

  private async deedOf({ action }: ApprovalReview): Promise<DeedId | null> {
    if (action.sealingRevision === null) return null;
    const read = await this.actions.read(action.submission.action, action.submission.org);
    return read?.deed ?? null;
  }
}
