import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveConnector, Vault } from '#libs/domain/connectors';
import type { Clock, Logger } from '#libs/domain/kernel';
import {
  type ChangeLogSource,
  type DecoderAddress,
  type DecoderLog,
  type DecoderRows,
  type WitnessLogin,
  witnessTermsOf,
} from '#libs/domain/witness';
import { withLogin } from './witness-credential.js';

const DROP_TRIES = 6;
const BETWEEN_DROPS_MS = 200;

export interface RetirementParts {
  readonly source: Pick<ChangeLogSource, 'dropSlot'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly log: Pick<DecoderLog, 'load' | 'detach'>;
  readonly rows: Pick<DecoderRows, 'save' | 'forget'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** A slot that nobody reads keeps the log of a customer's database until its disk is full. So none is left behind. */
export class SlotRetirement {
  constructor(
    private readonly parts: RetirementParts,
    private readonly of: DecoderAddress,
  ) {}

  /** Drops the slot of a login that is still open. False: it could not be dropped now. */
  async drop(login: WitnessLogin): Promise<boolean> {
    const { slot } = login.terms;
    try {
      if (!(await this.isDropped(login))) {
        this.parts.logger.warn('a replication slot could not be dropped: somebody reads it', this.named(slot));
        return false;
      }
    } catch (error) {
      this.parts.logger.warn('a replication slot could not be dropped', { ...this.named(slot), error });
      return false;
    }
    await this.parts.log.detach(this.of, slot);
    return true;
  }

  /** The database frees a slot a moment after its reader has left. */
  private async isDropped(login: WitnessLogin): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      if ((await this.parts.source.dropSlot(login)) === 'dropped') return true;
      if (tries === DROP_TRIES) return false;
      await sleep(BETWEEN_DROPS_MS);
    }
  }

  /** Of a connector that is disabled, or whose witness was switched off. False: try again later. */
  async retire(connector: LiveConnector): Promise<boolean> {
    const { attached } = await this.parts.log.load(this.of.connector);
    const terms = witnessTermsOf(connector);
    if (terms !== null) {
      const held = { ...terms, slot: attached?.slot ?? terms.slot };
      const isDropped = await this.tried(() =>
        withLogin(this.parts.vault, connector, held, (login) => this.drop(login)),
      );
      if (!isDropped) {
        const left = { ...this.of, reason: 'slot_left', lagBytes: null, position: null } as const;
        await this.parts.rows.save(left, this.parts.clock.nowMs());
        return false;
      }
    }
    await this.parts.rows.forget(this.of.connector);
    return true;
  }

  /** Of a connector that is deleted, and its credential with it. A slot that is there still is for people to drop. */
  async forget(): Promise<void> {
    const { attached } = await this.parts.log.load(this.of.connector);
    if (attached !== null) {
      this.parts.logger.warn(
        'a connector was deleted whose replication slot could not be dropped: the slot keeps the log of its database ' +
          'until somebody runs there: select pg_drop_replication_slot(<slot>)',
        this.named(attached.slot),
      );
    }
    await this.parts.rows.forget(this.of.connector);
  }

  private async tried(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.parts.logger.warn('a replication slot could not be dropped', { ...this.named(null), error });
      return false;
    }
  }

  private named(slot: string | null): { connector: string; slot: string | null } {
    return { connector: this.of.connector, slot };
  }
}
