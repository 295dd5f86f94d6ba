import type { Payload } from '../../kernel/index.js';

/** The name of a payload, as in an event: owner, kind and digest, without the body. */
export type NamedPayload = Pick<Payload, 'owner' | 'kind' | 'digest'>;

/** `missing`: nothing is stored under the name. `differs`: the stored body has another digest. */
export type PayloadFault = 'missing' | 'differs';

/**
 * Compares stored payloads with the digests that name them. The comparison runs in the database, so bodies of any
 * length are never transferred.
 */
export abstract class PayloadComparison {
  /**
   * As strict as `PayloadStore.get`, which returns no body that differs.
   * @returns one entry per name, in the same order; null if the body is stored as it was written
   * @throws {StoreUnavailable}
   */
  abstract compare(named: readonly NamedPayload[]): Promise<readonly (PayloadFault | null)[]>;
}
