import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { canonicalize, commitUnder, newSalt, type Digest, type Salt } from '#libs/crypto';
import {
  actionChannel,
  Bus,
  DomainError,
  failpoint,
  RequirementMoved,
  RevisionConflict,
  SYSTEM,
  type Append,
  type AppendResult,
  type CommandMetadata,
  type CommandResult,
  saltedPayload,
  type SaltedPayload,
} from '../../kernel/index.js';
import { type ActionCommand, actionDecider, type Action, type Approval, isLiving } from '../action/index.js';
import { contextDocument } from './approval-context.js';
import { countingSigners, isOpen, whyNotDecided, whyNotSigned } from './approval-review.js';
import { GateKernel } from '../kernel/index.js';
import { ApprovalReviews, type ReviewToActBy } from './approval-reviews.js';
import { DecideApproval } from './decide-approval.command.js';
import { ExecutionStarter } from '../execution/index.js';

/**
 * How often the review is made anew. A decision is tried again only if something it was judged by has changed
 * meanwhile, so a few tries are enough.
 */
const MAX_LOOKS = 16;

type AnswerCommand = Extract<ActionCommand, { type: 'Countersign' | 'DenyApproval' }>;

/**
 * Appends a person's decision, on condition that everything it was judged by is unchanged. Otherwise all of it is read
 * and judged again, so that the signature of another person counts and that of a removed member does not.
 */
@CommandHandler(DecideApproval)
export class DecideApprovalHandler implements ICommandHandler<DecideApproval> {
  constructor(
    private readonly gate: GateKernel,
    private readonly reviews: ApprovalReviews,
    private readonly starter: ExecutionStarter,
    private readonly bus: Bus,
  ) {}

  /**
   * @throws {DomainError} in this order: not_found; approval_expired, approval_decided; approver_not_eligible; to
   *   approve only: self_approval, already_countersigned, and the obstacle of the review (a Stop, the policy, the
   *   connector); context_changed; service_unavailable if outcomes of the organization wait too long for their seals
   */
  async execute(command: DecideApproval): Promise<ReviewToActBy> {
    const { org, approval, metadata } = command;
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      const review = await this.reviews.of(org, approval, metadata.now);
      // The request is a retry whose first answer was lost.
      if (review.folded.causations.has(metadata.commandId)) return review;
      await this.requireOpen(review);
      requireDecidable(command, review);
      if (command.answer.decision === 'approve') this.gate.requireSealingKeepsUp(org);
      const result = await this.append(command, review);
      if (result === null) continue;
      await this.resume(review, result);
      return this.reviews.of(org, approval, metadata.now);
    }
    throw new DomainError('conflict', {
      message: 'The approval keeps changing. Wait a moment, read it again and decide on what it says then.',
    });
  }

  /** Requires an open approval. If its time is over and no sweeper has ended it yet, this expires it. */
  private async requireOpen(review: ReviewToActBy): Promise<void> {
    if (isOpen(review)) return;
    const { approval, action, at } = review;
    if (approval.status === 'pending') {
      const metadata: CommandMetadata = {
        org: action.submission.org,
        actor: SYSTEM,
        requestId: null,
        commandId: `expire:${approval.terms.approval}`,
        correlation: action.submission.action,
        now: at,
      };
      const command = { type: 'ExpireApproval' as const, data: {}, metadata };
      const { folded } = await this.gate.runner.run(actionDecider, action.submission.action, command, metadata);
      this.bus.publish(actionChannel(action.submission.action), 'decided');
      throw ended(isLiving(folded.state) ? folded.state.approval : null);
    }
    throw ended(approval);
  }

  /** Null if something that the decision was judged by has changed: nothing was written. */
  private async append(command: DecideApproval, review: ReviewToActBy): Promise<CommandResult<Action> | null> {
    const { submission } = review.action;
    const metadata = { ...command.metadata, correlation: submission.action, salt: newSalt() };
    const payload = payloadOf(review);
    const actionCommand = answerCommandOf(command, review, metadata, payload);
    // Turns a conflict into `ReviewOutdated`, because the command runner's own retry would decide again with the signers read
    // before.
    const append = (events: Append): Promise<AppendResult> =>
      this.gate.appends.append(events, { payload, requires: review.requires }).catch(asReviewOutdated);
    try {
      return await this.gate.runner.run(actionDecider, submission.action, actionCommand, metadata, {
        known: review.folded,
        append,
      });
    } catch (error) {
      if (error instanceof ReviewOutdated) return null;
      throw error;
    }
  }

  /**
   * Wakes the requests that wait for the action, and starts the execution if this was the last signature. After a crash
   * here, a sweeper starts it.
   */
  private async resume({ action, context }: ReviewToActBy, { folded, events }: CommandResult<Action>): Promise<void> {
    const { action: id } = action.submission;
    this.bus.publish(actionChannel(id), 'decided');
    if (!events.some(({ event }) => event.type === 'ExecutionReady')) return;
    await failpoint('apr.resume');
    await this.starter.start({ id, folded, args: context?.args ?? {}, found: null }, null);
  }
}

const ended = (approval: Approval | null): DomainError =>
  new DomainError(approval?.status === 'expired' ? 'approval_expired' : 'approval_decided');

type SaltedMetadata = CommandMetadata & { readonly salt: Salt };

class ReviewOutdated extends Error {
  override readonly name = 'ReviewOutdated';
}

const asReviewOutdated = (error: unknown): never => {
  throw error instanceof RevisionConflict || error instanceof RequirementMoved ? new ReviewOutdated() : error;
};

const requireDecidable = ({ answer }: DecideApproval, review: ReviewToActBy): void => {
  const refused = answer.decision === 'approve' ? whyNotSigned(review, answer.by) : whyNotDecided(review, answer.by);
  if (refused !== null) throw new DomainError(refused);
  const { obstacle } = review;
  if (answer.decision === 'approve' && obstacle !== null) {
    throw new DomainError(obstacle.code, { message: obstacle.message });
  }
  const isNamed = answer.decision === 'approve' || answer.contextDigest !== null;
  if (isNamed && answer.contextDigest !== review.digest) throw new DomainError('context_changed');
};

const answerCommandOf = (
  { approval, answer }: DecideApproval,
  review: ReviewToActBy,
  metadata: SaltedMetadata,
  payload: SaltedPayload | null,
): AnswerCommand => {
  const { by, via, reason } = answer;
  const commitments = {
    ...(payload === null ? {} : { context: commitUnder(payload.salt, 'context', payload.body) }),
    ...(reason === null ? {} : { reason: commitUnder(metadata.salt, 'reason', canonicalize(reason)) }),
  };
  const signature = { by, via, reason, context_digest: contextDigestOf(review), commitments };
  if (answer.decision === 'deny') return { type: 'DenyApproval', data: { approval, answer: signature }, metadata };
  const { run, toolDigest } = review;
  // Does not happen: a review without `run` has an obstacle, which `requireDecidable` has refused.
  if (run === null) throw new DomainError('conflict');
  const { required } = review.terms;
  const data = { approval, answer: signature, stillCounting: countingSigners(review), required, toolDigest, run };
  return { type: 'Countersign', data, metadata };
};

/** If the context can no longer be computed, a denial names the context of the submission. */
const contextDigestOf = ({ digest, approval }: ReviewToActBy): Digest => digest ?? approval.terms.context_digest;

const payloadOf = ({ context, action }: ReviewToActBy): SaltedPayload | null => {
  if (context === null) return null;
  const { action: owner, org } = action.submission;
  return saltedPayload({ owner, org, kind: 'approval_context', ...contextDocument(context) });
};
