import type { Payload } from '../kernel/index.js';

/** A payload as an event names it: whose, and without what is in it. */
export type NamedPayload = Pick<Payload, 'owner' | 'kind' | 'digest'>;

/** `missing`: nothing is stored under the name; `differs`: what is stored there has another digest. */
export type PayloadFault = 'missing' | 'differs';

/**
 * Compares stored payloads with the digests that name them, in the place where they lie: no body is handed out, however
 * long it is.
 */
export abstract class PayloadComparison {
  /**
   * Judges as strictly as `PayloadStore.get`, which hands out none that differs.
   * @returns in the order of the names; null for one that is stored as it was written
   * @throws {StoreUnavailable}
   */
  abstract compare(named: readonly NamedPayload[]): Promise<readonly (PayloadFault | null)[]>;
}
