import { type CommandMetadata, failpoint, type OrgId } from '../kernel/index.js';
import { type CheckpointJournal, type CheckpointTail, rootText } from './checkpoint-journal.js';
import type { BrokenLedgers } from './checkpoint.ports.js';
import {
  nothingSignedUnder,
  originAfter,
  type RememberedTree,
  type RememberedTrees,
  standingOf,
} from './remembered-trees.js';

export interface LedgerBreakParts {
  readonly journal: Pick<CheckpointJournal, 'tail' | 'append'>;
  readonly remembered: RememberedTrees;
  readonly broken: Pick<BrokenLedgers, 'remove'>;
  readonly originOf: (org: OrgId) => string;
}

/** What an operator accepts: that a ledger does not go on from what was signed of it. */
export class LedgerBreaks {
  constructor(private readonly parts: LedgerBreakParts) {}

  /**
   * Begins another tree, with an origin that was never used: under the old one there would be two histories. Also where
   * nothing is found broken, for a ledger that goes on without deeds that it had: what was signed of them, a restored
   * database has forgotten.
   * @returns the origin of the next checkpoints
   * @throws {RevisionConflict} when something was signed meanwhile
   */
  async accept(org: OrgId, reason: string, metadata: CommandMetadata): Promise<string> {
    const remembered = await this.parts.remembered.of(org);
    const tail = await this.parts.journal.tail(org);
    const last = lastSigned(remembered, tail) ?? nothingSignedUnder(org, tail.origin ?? this.parts.originOf(org));
    const { origin: lastOrigin, size, root } = last;
    const { origin, number } = originAfter(tail.origin ?? lastOrigin, remembered, metadata.now);
    // Before the event: a database that forgets it must not lead to the same origin once more.
    await this.parts.remembered.remember({
      ...(remembered ?? { org, origin: lastOrigin, size, root }),
      begun: number,
    });
    await failpoint('ckpt.begun');
    const data = { org, origin, broken: { origin: lastOrigin, size, root }, reason, at: metadata.now };
    await this.parts.journal.append(org, tail, [{ type: 'LedgerBreakAccepted', data }], metadata);
    await this.parts.broken.remove(org);
    return origin;
  }
}

/** What is not continued; null where nothing was signed. */
const lastSigned = (
  remembered: RememberedTree | null,
  tail: CheckpointTail,
): Pick<RememberedTree, 'origin' | 'size' | 'root'> | null => {
  const logged = tail.last?.checkpoint ?? null;
  if (remembered !== null && standingOf(remembered, tail) !== 'older') {
    if (logged === null || logged.origin !== remembered.origin || logged.size < remembered.size) return remembered;
  }
  return logged && { origin: logged.origin, size: logged.size, root: rootText(logged.root) };
};
