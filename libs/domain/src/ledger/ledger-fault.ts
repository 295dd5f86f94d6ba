import { StoreUnavailable } from '../kernel/index.js';

/**
 * The log names an event that it does not hold: nothing that comes later will mend that. Callers who need it have no
 * answer; whoever works for many organizations leaves this one aside.
 */
export class MissingEvent extends StoreUnavailable {
  constructor(stream: string, revision: number) {
    super(`${stream} holds no event at revision ${revision}, which the log names; run \`npm run ags -- audit\``);
  }
}

/** The store gave no answer: it is everybody's trouble, and passes. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable && !(error instanceof MissingEvent);

/**
 * Of what was thrown while one organization's events were read: its own trouble.
 * @throws what was thrown, where that is everybody's
 */
export const ownFaultOf = (thrown: unknown): Error => {
  if (isStoreAway(thrown)) throw thrown;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
};
