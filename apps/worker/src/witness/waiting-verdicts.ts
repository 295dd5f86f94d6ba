import { type ChangeLogVerdicts, type DecoderAddress, hasPassed, type WaitingActions } from '#libs/domain/witness';

/** What becomes of actions whose transaction the change log does not bring. */
export class WaitingVerdicts {
  constructor(
    private readonly waiting: WaitingActions,
    private readonly verdicts: Pick<ChangeLogVerdicts, 'reportAbsence' | 'giveUp'>,
    private readonly of: DecoderAddress,
  ) {}

  /**
   * The log was read up to `position`: what had to stand before it and was not seen is missing. Of what committed before
   * `start` nobody says that, for this decoder was not there.
   */
  async readUpTo(position: string, start: string): Promise<void> {
    for (const { action, commitLsn } of await this.waiting.of(this.of.org, this.of.connector)) {
      if (commitLsn === null) continue;
      if (hasPassed(start, commitLsn)) await this.verdicts.giveUp(action, 'decoder_down');
      else if (hasPassed(position, commitLsn)) await this.verdicts.reportAbsence(action, 'transaction_missing');
    }
  }

  /** A part of the log will never be read. */
  async giveUp(reason: 'slot_invalidated' | 'log_restored'): Promise<void> {
    const all = await this.waiting.allOf(this.of.org, this.of.connector);
    for (const { action } of all) await this.verdicts.giveUp(action, reason);
  }
}
