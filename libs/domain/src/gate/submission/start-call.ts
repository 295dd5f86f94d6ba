import { StoreUnavailable, type Folded } from '../../kernel/index.js';
import type { Claimant, Action } from '../action/index.js';
import type { CallAtGate } from './call-at-gate.js';
import type { ExecutionStarter } from '../execution/index.js';

/** Takes the claim back after a failed append. Only if the store gave no clear answer may the claim be in the log. */
export const takeBack = (starter: ExecutionStarter, claimant: Claimant | null, error: unknown): void => {
  if (claimant) starter.withdraw(claimant, error instanceof StoreUnavailable);
};

/**
 * Hands the recorded call to its executor, with the revisions that the commit has required and the time at which the
 * append was sent.
 */
export const start = (
  starter: ExecutionStarter,
  { id, request, requires }: CallAtGate,
  folded: Folded<Action>,
  claimant: Claimant | null,
  askedAtMs: number,
): Promise<void> => {
  const found = requires && { askedAtMs, revisions: requires };
  return starter.start({ id, folded, args: request.args, found }, claimant);
};
