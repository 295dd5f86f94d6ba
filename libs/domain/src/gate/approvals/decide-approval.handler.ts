import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { canonicalize, commitUnder, newSalt, type Salt } from '#libs/crypto';
import {
  actionChannel,
  Bus,
  DomainError,
  failpoint,
  FIRST_EVENT_SCHEMA,
  RequirementMoved,
  RevisionConflict,
  SIGNED_DECISION_SCHEMA,
  SYSTEM,
  type Append,
  type AppendResult,
  type CommandMetadata,
  type CommandResult,
  saltedPayload,
  type SaltedPayload,
} from '../../kernel/index.js';
import { type ActionCommand, actionDecider, type Action, isLiving } from '../action/index.js';
import { contextDocument } from './approval-context.js';
import { countingSigners, digestToSign, isOpen } from './approval-review.js';
import { ended, requireDecidable } from './decidable.js';
import { GateKernel } from '../kernel/index.js';
import { ApprovalReviews, type ReviewToActBy } from './approval-reviews.js';
import { DecideApproval } from './decide-approval.command.js';
import { type HeldAssertion, type KeptAssertion, SignedDecisions } from './signed-decisions.js';
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
    private readonly signed: SignedDecisions,
  ) {}

  /**
   * @throws {DomainError} in this order: not_found; approval_expired, approval_decided; approver_not_eligible; to
   *   approve only: self_approval, already_countersigned, and the obstacle of the review (a Stop, the policy, the
   *   connector); context_changed; approval_needs_passkey, passkey_invalid; service_unavailable if outcomes of the organization wait too long for their seals
   */
  async execute(command: DecideApproval): Promise<ReviewToActBy> {
    const { org, approval, metadata } = command;
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      const review = await this.reviews.of(org, approval, metadata.now);
      // The request is a retry whose first answer was lost.
      if (review.folded.causations.has(metadata.commandId)) return review;
      await this.requireOpen(review);
      requireDecidable(command.answer, review);
      const held = await this.heldAssertion(command, review);
      if (command.answer.decision === 'approve') this.gate.requireSealingKeepsUp(org);
      const result = await this.append(command, review, held);
      if (result === null) continue;
      await this.resume(review, result);
      if (held !== null) await this.signed.noteUse(held);
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

  /** What the person's passkey signed, if anything. Of an approval that needs none, and got none, nothing is asked. */
  private heldAssertion({ answer }: DecideApproval, review: ReviewToActBy): Promise<HeldAssertion> | null {
    const { assertion = null } = answer;
    if (assertion !== null) return this.signed.held(review, answer, assertion);
    this.signed.requireSigned(review, answer);
    return null;
  }

  /** Null if something that the decision was judged by has changed: nothing was written. */
  private async append(
    command: DecideApproval,
    review: ReviewToActBy,
    held: HeldAssertion | null,
  ): Promise<CommandResult<Action> | null> {
    const { submission } = review.action;
    const schema = held === null ? FIRST_EVENT_SCHEMA : SIGNED_DECISION_SCHEMA;
    const metadata = { ...command.metadata, correlation: submission.action, salt: newSalt(), schema };
    const payload = payloadOf(review);
    const kept = held && (await this.signed.keep(review, held));
    const actionCommand = answerCommandOf(command, review, metadata, { payload, kept });
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

type SaltedMetadata = CommandMetadata & { readonly salt: Salt };

class ReviewOutdated extends Error {
  override readonly name = 'ReviewOutdated';
}

const asReviewOutdated = (error: unknown): never => {
  throw error instanceof RevisionConflict || error instanceof RequirementMoved ? new ReviewOutdated() : error;
};

const answerCommandOf = (
  { approval, answer }: DecideApproval,
  review: ReviewToActBy,
  metadata: SaltedMetadata,
  { payload, kept }: { readonly payload: SaltedPayload | null; readonly kept: KeptAssertion | null },
): AnswerCommand => {
  const { by, via, reason } = answer;
  const commitments = {
    ...(payload === null ? {} : { context: commitUnder(payload.salt, 'context', payload.body) }),
    ...(reason === null ? {} : { reason: commitUnder(metadata.salt, 'reason', canonicalize(reason)) }),
    ...(kept === null ? {} : { assertion: kept.commitment }),
  };
  const plain = { by, via, reason, context_digest: digestToSign(review), commitments };
  const signature = kept === null ? plain : { ...plain, assertion_digest: kept.digest };
  if (answer.decision === 'deny') return { type: 'DenyApproval', data: { approval, answer: signature }, metadata };
  const { run, toolDigest } = review;
  // Does not happen: a review without `run` has an obstacle, which `requireDecidable` has refused.
  if (run === null) throw new DomainError('conflict');
  const { required } = review.terms;
  const data = { approval, answer: signature, stillCounting: countingSigners(review), required, toolDigest, run };
  return { type: 'Countersign', data, metadata };
};

const payloadOf = ({ context, action }: ReviewToActBy): SaltedPayload | null => {
  if (context === null) return null;
  const { action: owner, org } = action.submission;
  return saltedPayload({ owner, org, kind: 'approval_context', ...contextDocument(context) });
};
