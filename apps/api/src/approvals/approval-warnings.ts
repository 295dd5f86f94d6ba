import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import {
  approvalOf,
  costIn,
  hiddenCharactersIn,
  hiddenPlaceIn,
  medianExceededBy,
  paymentsIn,
  recordedInput,
  type ApprovalContext,
  type ApprovalReview,
  type CallCost,
  type LivingAction,
} from '#libs/domain/gate';
import { DamagedPayload, displayOf, DomainError, PayloadStore } from '#libs/domain/kernel';
import { ActionRow, ApprovalRow, ReadModels } from '#libs/infra/read-models';
import type { ShownDefinition } from './served-definitions.js';

export interface ApprovalWarning {
  readonly code:
    'first_call' | 'unusual_amount' | 'hidden_characters' | 'not_enriched' | 'disputed' | 'more_than_refundable';
  /** One sentence or two for who decides. */
  readonly text: string;
}

/** So many calls of the tool are what an amount is measured by. */
const EARLIER_MAX = 30;
/** Of those that waited for people some were not approved. */
const LOOKED_AT_MAX = 2 * EARLIER_MAX;

/** What an approver should look at twice. No part of what is decided on: it rests on rows and on stored bodies. */
@Injectable()
export class ApprovalWarnings {
  constructor(
    private readonly readModels: ReadModels,
    private readonly payloads: PayloadStore,
  ) {}

  /** In the order in which they are to be read. Where a search takes too long, its warning is left out. */
  async about(
    { action, context }: ApprovalReview,
    definition: ShownDefinition | null,
  ): Promise<readonly ApprovalWarning[]> {
    const [isFirst, unusual] = await Promise.all([
      orWithout(false, this.isFirstCall(action)),
      context === null ? null : orWithout(null, this.unusualAmount(action, costIn(context.request))),
    ]);
    const first: ApprovalWarning = {
      code: 'first_call',
      text: 'This agent was never allowed to call this tool before.',
    };
    return [
      ...(isFirst ? [first] : []),
      ...(unusual === null ? [] : [unusual]),
      ...(context === null ? [] : warningsIn(context, definition)),
    ];
  }

  /** A call that was denied is no precedent. */
  private async isFirstCall({ submission, createdAt }: LivingAction): Promise<boolean> {
    const { org, agent, tool, action } = submission;
    const allowed = this.readModels
      .of(org, ActionRow)
      .where('row.agent = :agent', { agent })
      .where('row.tool = :tool', { tool })
      .where('row.createdAt < :createdAt', { createdAt })
      .where('row.decision = :decision', { decision: 'allow' })
      .only('id');
    const approved = this.readModels
      .of(org, ApprovalRow)
      .where('row.agent = :agent', { agent })
      .where('row.tool = :tool', { tool })
      .where('row.id <> :approval', { approval: approvalOf(action) })
      .where('row.status = :status', { status: 'approved' })
      .only('id');
    return (await allowed.first()) === null && (await approved.first()) === null;
  }

  private async unusualAmount(action: LivingAction, cost: CallCost | null): Promise<ApprovalWarning | null> {
    if (cost === null) return null;
    const earlier = await this.earlierAmounts(action, cost.currency);
    const median = medianExceededBy(cost.amount, earlier);
    if (median === null) return null;
    const others =
      earlier.length === 1 ? 'the last call of this tool' : `the last ${earlier.length} calls of this tool`;
    const [now, before] = [displayOf(cost), displayOf({ ...cost, amount: median })];
    return { code: 'unusual_amount', text: `This call spends ${now}. The median of ${others} is ${before}.` };
  }

  /** Of the last calls of this tool that were let through, whichever agent made them, as far as their inputs are stored. */
  private async earlierAmounts({ submission, createdAt }: LivingAction, currency: string): Promise<readonly number[]> {
    const { rows } = await this.readModels
      .of(submission.org, ActionRow)
      .where('row.tool = :tool', { tool: submission.tool })
      .where('row.createdAt < :createdAt', { createdAt })
      .where('row.decision <> :decision', { decision: 'deny' })
      .orderBy('createdAt', 'DESC')
      .page(LOOKED_AT_MAX);
    const amounts: number[] = [];
    for (const { folded } of rows.filter((row) => isLetThrough(row.folded))) {
      const cost = await this.costOf(folded);
      if (cost?.currency === currency) amounts.push(cost.amount);
      if (amounts.length === EARLIER_MAX) break;
    }
    return amounts;
  }

  private async costOf({ submission }: LivingAction): Promise<CallCost | null> {
    try {
      const input = await recordedInput(this.payloads, submission);
      return input === null ? null : costIn(input.request);
    } catch (error) {
      if (error instanceof DamagedPayload) return null;
      throw error;
    }
  }
}

const isLetThrough = ({ approval }: LivingAction): boolean => approval === null || approval.status === 'approved';

/** A warning is no reason to keep anybody waiting. */
const orWithout = async <Found>(missing: Found, search: Promise<Found>): Promise<Found> => {
  try {
    return await search;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'timeout') return missing;
    throw error;
  }
};

const warningsIn = (context: ApprovalContext, definition: ShownDefinition | null): readonly ApprovalWarning[] => {
  const payments = paymentsIn(context.request);
  const hidden = hiddenCharactersIn(context) ?? hiddenInDefinition(definition);
  return [
    ...(payments?.['enriched'] === false ? [NOT_ENRICHED] : []),
    ...(payments?.['disputed'] === true ? [DISPUTED] : []),
    ...(isMoreThanLeft(payments, costIn(context.request)) ? [MORE_THAN_REFUNDABLE] : []),
    ...(hidden === null ? [] : [hides(hidden)]),
  ];
};

const hiddenInDefinition = (definition: ShownDefinition | null): string | null =>
  definition === null
    ? null
    : (hiddenPlaceIn(definition.title, 'tool.definition.title') ??
      hiddenPlaceIn(definition.description, 'tool.definition.description'));

const NOT_ENRICHED: ApprovalWarning = {
  code: 'not_enriched',
  text: 'The payment could not be read at the processor, so nothing is known of it but the arguments of the call: the processor did not answer, has no such payment, or its key may not read it.',
};

const isMoreThanLeft = (payments: JsonObject | null, cost: CallCost | null): boolean => {
  const refundable = payments?.['refundable'];
  return typeof refundable === 'number' && cost !== null && cost.amount > refundable;
};

const MORE_THAN_REFUNDABLE: ApprovalWarning = {
  code: 'more_than_refundable',
  text: 'The call asks for more than is left to refund of this payment, so the processor will refuse it.',
};

const DISPUTED: ApprovalWarning = {
  code: 'disputed',
  text: 'The customer disputes this payment. A refund beside the dispute may give the money back twice.',
};

const hides = (place: string): ApprovalWarning => ({
  code: 'hidden_characters',
  text: `${place} holds characters that do not show or that change the direction of text. What you read may not be what is sent.`,
});
