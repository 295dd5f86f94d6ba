import { streamOf, type ActionId, type AgentId, type EventStore, type OrgId } from '../../kernel/index.js';

/** How long a key names its action (rule GATE-12). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * Idempotency of the gate needs no row: the action id is derived from the Idempotency-Key, and the append at
 * `no_stream` is the claim on the key. The derivation is keyed by the organization's id key, which comes from the
 * pepper, so an id reveals nothing about its key and nobody can choose an id.
 */
export abstract class IdempotentIds {
  /** 128 bits of HMAC-SHA256(id key, agent LF key LF generation). */
  abstract actionId(org: OrgId, agent: AgentId, key: string, generation: number): ActionId;
  /** The hash of the key that events hold, in lowercase hex. */
  abstract keyHash(org: OrgId, agent: AgentId, key: string): string;
}

/**
 * The last generation of a key that exists; -1 if there is none. When a key's action is older than 24 hours, the key
 * moves to the next generation. Generation n + 1 exists only if n does, so the last one is found by doubling and then
 * bisecting.
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
