import { epochMsOf } from '#libs/domain/kernel';
import { type ChangeLogVerdicts, type DecoderAddress, hasPassed, type WaitingActions } from '#libs/domain/witness';
import type { Attachment } from './attachment.js';

/** What becomes of actions whose transaction the change log does not bring. */
export class WaitingVerdicts {
  constructor(
    private readonly waiting: WaitingActions,
    private readonly verdicts: Pick<ChangeLogVerdicts, 'reportAbsence' | 'giveUp'>,
    private readonly of: DecoderAddress,
  ) {}

  /**
   * The log was read up to `position`: what had to stand before it and was not seen is missing. Of what committed before
   * `start` nobody says that, for this decoder was not there; nor of a call that began before this log was followed, for
   * its connector may have led to another database then, whose places are none of this log.
   */
  async readUpTo(position: string, { start, since }: Pick<Attachment, 'start' | 'since'>): Promise<void> {
    for (const { action, commitLsn, startedAt } of await this.waiting.of(this.of.org, this.of.connector)) {
      if (commitLsn === null) continue;
      const isOfThisLog = startedAt !== null && epochMsOf(startedAt) > epochMsOf(since);
      if (hasPassed(start, commitLsn)) await this.verdicts.giveUp(action, 'decoder_down');
      else if (!hasPassed(position, commitLsn)) continue;
      else if (!isOfThisLog) await this.verdicts.giveUp(action, 'decoder_down');
      else await this.verdicts.reportAbsence(action, 'transaction_missing');
    }
  }

  /** A part of the log will never be read. */
  async giveUp(reason: 'slot_invalidated' | 'log_restored'): Promise<void> {
    const all = await this.waiting.allOf(this.of.org, this.of.connector);
    for (const { action } of all) await this.verdicts.giveUp(action, reason);
  }
}
