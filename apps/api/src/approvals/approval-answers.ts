import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { ApprovalReviews, type ApprovalReview } from '#libs/domain/gate';
import { DomainError, type ApprovalId, type DeedId, type OrgId, type UserId } from '#libs/domain/kernel';
import { ActionRow, ReadModels } from '#libs/infra/read-models';
import { ActionReader } from '../gate/action-reader.js';
import { approvalView, reviewView } from './approval.view.js';

/** A single approval, from its action's stream as it stands now and never from a projection. */
@Injectable()
export class ApprovalAnswers {
  constructor(
    private readonly reviews: ApprovalReviews,
    private readonly actions: ActionReader,
    private readonly readModels: ReadModels,
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
    const [deed, isFirstCall] = await Promise.all([this.deedOf(review), this.isFirstCall(review)]);
    return { ...approvalView(review, deed), ...reviewView(review, user, isFirstCall) };
  }

  private async deedOf({ action }: ApprovalReview): Promise<DeedId | null> {
    if (action.sealingRevision === null) return null;
    const read = await this.actions.read(action.submission.action, action.submission.org);
    return read?.deed ?? null;
  }

  /** As far as the list of actions tells; a warning is no reason to keep anybody waiting. */
  private async isFirstCall({ action }: ApprovalReview): Promise<boolean> {
    const { org, agent, tool } = action.submission;
    const earlier = this.readModels
      .of(org, ActionRow)
      .where('row.agent = :agent', { agent })
      .where('row.tool = :tool', { tool })
      .where('row.createdAt < :createdAt', { createdAt: action.createdAt })
      .only('id');
    try {
      return (await earlier.first()) === null;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'timeout') return false;
      throw error;
    }
  }
}
