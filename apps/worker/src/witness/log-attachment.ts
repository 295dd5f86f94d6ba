import {
  type AttachedLog,
  type ChangeLogSource,
  type Decoder,
  type DecoderAddress,
  type DecoderLog,
  hasPassed,
  type LogFacts,
  type WitnessLogin,
} from '#libs/domain/witness';
import type { Attachment } from './attachment.js';
import type { DecoderHealth } from './decoder-health.js';
import type { WaitingVerdicts } from './waiting-verdicts.js';

export interface AttachmentParts {
  readonly source: Pick<ChangeLogSource, 'inspect' | 'createSlot'>;
  readonly log: Pick<DecoderLog, 'load' | 'attach'>;
}

type LostLog = 'slot_invalidated' | 'log_restored';

/**
 * Makes sure that a log is the one that was followed before, and notices where it is not. Whatever waits is given up
 * before the log of the service says that the other log is followed: a crash between the two gives up once more.
 */
export class LogAttachment {
  constructor(
    private readonly parts: AttachmentParts,
    private readonly waiting: WaitingVerdicts,
    private readonly health: Pick<DecoderHealth, 'lost'>,
    private readonly of: DecoderAddress,
  ) {}

  /**
   * What to follow; null where there is nothing until somebody sets the slot up anew.
   * @param handled how far this slot was read, as far as anybody knows
   */
  async attach(login: WitnessLogin, handled: string | null): Promise<Attachment | null> {
    const facts = await this.parts.source.inspect(login);
    const before = await this.parts.log.load(this.of.connector);
    const known = before.attached?.slot === login.terms.slot ? before.attached : null;
    const lost = lostBy(facts, before, known);
    if (lost !== null) {
      await this.waiting.giveUp(lost);
      await this.health.lost(lost);
      return null;
    }
    // A log that ends before a place that was read of it has gone back, or somebody has lied about that place.
    const hasGoneBack = handled !== null && !hasPassed(facts.head, handled);
    if (known !== null && (hasGoneBack || !isSame(facts, known))) {
      await this.waiting.giveUp('log_restored');
      await this.health.lost('log_restored');
    }
    const confirmed = await this.attached(login, facts);
    // As the log has it: where nothing has changed, the start is that of then.
    const { attached } = await this.parts.log.load(this.of.connector);
    // Nobody else detaches what this decoder has just attached, for it holds the lease.
    if (attached === null) throw new Error('a log that was attached is not');
    const { start, since } = attached;
    const isKept = hasPassed(start, confirmed) || (handled !== null && hasPassed(handled, confirmed));
    return { start: isKept ? start : confirmed, since, confirmed };
  }

  private async attached(login: WitnessLogin, facts: LogFacts): Promise<string> {
    const isNew = facts.slot === null;
    if (isNew) await this.parts.source.createSlot(login);
    // Asked again where the slot is new: of what committed while it was made nobody knows whether it is in it.
    const { systemId: system_id, timeline, head, slot } = isNew ? await this.parts.source.inspect(login) : facts;
    const start = isNew ? head : (slot?.confirmed ?? head);
    await this.parts.log.attach(this.of, { system_id, timeline, slot: login.terms.slot, start });
    return slot?.confirmed ?? head;
  }
}

/**
 * A slot that was there and is gone went with its log; one that was never there is made. One that has confirmed more than
 * there is skips whatever comes until then.
 */
const lostBy = ({ slot, head }: LogFacts, { reason }: Decoder, known: AttachedLog | null): LostLog | null => {
  if (slot?.isLost === true) return 'slot_invalidated';
  const confirmed = slot?.confirmed ?? null;
  if (confirmed !== null && !hasPassed(head, confirmed)) return 'log_restored';
  if (slot !== null || known === null) return null;
  return reason === 'slot_invalidated' ? reason : 'log_restored';
};

const isSame = ({ systemId, timeline }: LogFacts, known: AttachedLog): boolean =>
  systemId === known.system_id && timeline === known.timeline;
