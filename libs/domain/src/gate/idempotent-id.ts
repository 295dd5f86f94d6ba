import { streamOf, type ActionId, type AgentId, type EventStore, type OrgId } from '../kernel/index.js';

/** How long a key names its action (rule GATE-12). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * The gate's idempotency has no row: with an Idempotency-Key the action's id is derived from it, and the append at
 * no_stream is the claim. Keyed by the organization's id key, which comes from the pepper: ids tell nothing about keys,
 * and nobody can aim at an id.
 */
export abstract class IdempotentIds {
  /** 128 bits of HMAC-SHA256(id key, agent LF key LF generation). */
  abstract actionId(org: OrgId, agent: AgentId, key: string, generation: number): ActionId;
  /** What events carry of the key, lowercase hex. */
  abstract keyHash(org: OrgId, agent: AgentId, key: string): string;
}

/**
 * The last generation of a key that exists, -1 when none does. A key older than 24 hours moves to the next generation,
 * and generation n + 1 exists only where n does: so the last is found by doubling, then halving.
 */
export const lastGeneration = async (
  store: EventStore,
  idOfGeneration: (generation: number) => ActionId,
): Promise<number> => {
  const exists = async (generation: number): Promise<boolean> => {
    const stream = streamOf('action', idOfGeneration(generation));
    return (await store.heads([stream])).has(stream);
  };
  let known = -1;
  let unknown = 0;
  while (await exists(unknown)) {
    known = unknown;
    unknown = unknown * 2 + 1;
  }
  while (unknown - known > 1) {
    const middle = Math.floor((known + unknown) / 2);
    if (await exists(middle)) known = middle;
    else unknown = middle;
  }
  return known;
};
