import type { CommandMetadata, OrgId } from '#libs/domain/kernel';
import type { NewestCheckpoint } from '#libs/domain/ledger';
import type { CheckpointParts } from '#libs/infra/deployment';
import type { CommandContext } from '../command-context.js';

/** Accepts a break, and says so where there was none to accept: the origin is then that of the tree before. */
export const acceptBreak = async (
  { terminal }: CommandContext,
  { journal, maker }: Pick<CheckpointParts, 'journal' | 'maker'>,
  org: OrgId,
  reason: string,
  metadata: CommandMetadata,
): Promise<NewestCheckpoint | null> => {
  const before = (await journal.tail(org)).last?.checkpoint.origin;
  const made = await maker.acceptBreak(org, reason, metadata);
  if (before !== undefined && made?.signed.checkpoint.origin === before) {
    terminal.err('Nothing is broken: nothing was accepted, no deed was made of the reason, and the origin stays.\n');
  }
  return made;
};
