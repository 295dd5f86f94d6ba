import { StoreUnavailable, type Folded } from '../../kernel/index.js';
import type { Claimant } from '../action.commands.js';
import type { Action } from '../action.state.js';
import type { CallAtGate } from './call-at-gate.js';
import type { ExecutionStarter } from './execution-starter.js';

/** After an append that failed: its claim may stand in the log only where the store gave no clear answer. */
export const takeBack = (starter: ExecutionStarter, claimant: Claimant | null, error: unknown): void => {
  if (claimant) starter.withdraw(claimant, error instanceof StoreUnavailable);
};

/** Hands the recorded call to whoever executes it, with what its commit proved and since when. */
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
