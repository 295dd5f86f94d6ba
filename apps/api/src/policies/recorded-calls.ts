import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { actionDecider, recordedInput, type LivingAction, type Unjudged } from '#libs/domain/gate';
import {
  DamagedPayload,
  DomainError,
  FoldedStreams,
  parseId,
  PayloadStore,
  streamRef,
  type OrgId,
} from '#libs/domain/kernel';
import type { PolicyInput } from '#libs/domain/policies';

/** Recorded calls as they were judged, for whoever puts them to another policy. What is stored no more is said, never guessed. */
@Injectable()
export class RecordedCalls {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly payloads: PayloadStore,
  ) {}

  /**
   * @param text the id of an action
   * @throws {DomainError} not_found; conflict: its input is stored no more
   */
  async callOf(
    org: OrgId,
    text: string,
  ): Promise<{ readonly input: PolicyInput; readonly recorded: JsonObject | null }> {
    const id = parseId('act', text);
    if (!id) throw new DomainError('not_found', { param: 'action' });
    const { state } = await this.streams.load(streamRef(actionDecider, id));
    if (state.state === 'none' || state.state === 'abandoned' || state.submission.org !== org) {
      throw new DomainError('not_found', { param: 'action' });
    }
    const input = await this.inputOf(state);
    if (typeof input === 'string') throw new DomainError('conflict', { param: 'action', message: GONE[input] });
    return { input, recorded: decisionOf(state) };
  }

  /** Or why it cannot be had. */
  async inputOf({ submission }: LivingAction): Promise<PolicyInput | Exclude<Unjudged, 'not_asked'>> {
    try {
      return (await recordedInput(this.payloads, submission)) ?? 'payload_removed';
    } catch (error) {
      if (error instanceof DamagedPayload) return 'payload_damaged';
      throw error;
    }
  }
}

const GONE = {
  payload_removed:
    'What this action was judged by is stored no more: the days of its organization are over. Send the call as input instead.',
  payload_damaged:
    'What is stored of this action is not what was judged, so it is not used. Tell the operator, and send the call as input instead.',
} as const;

const decisionOf = ({ decision }: LivingAction): JsonObject | null => {
  if (!decision) return null;
  const { outcome, code, source, rule_id, reason, message, policy, policy_version } = decision;
  return { outcome, code, source, rule_id, reason, message, policy, policy_version };
};
