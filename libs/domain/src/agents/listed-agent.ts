import type { AgentKey, LivingAgent } from './agent.state.js';

/** An agent as a row holds it: JSON has no maps, and the hashes of its keys' secrets stay in the log alone. */
export type ListedAgent = Omit<LivingAgent, 'keys'> & { readonly keys: readonly ListedKey[] };

export type ListedKey = Omit<AgentKey, 'hash'>;

export const listedAgent = ({ keys, ...agent }: LivingAgent): ListedAgent => ({
  ...agent,
  keys: [...keys.values()].map(withoutHash),
});

/** To be folded on and shown. Nobody is let in by it: it proves no key. */
export const agentOfList = ({ keys, ...agent }: ListedAgent): LivingAgent => ({
  ...agent,
  keys: new Map(keys.map((key) => [key.key, { ...key, hash: NO_HASH }])),
});

/** Of no secret. */
const NO_HASH = '';

const withoutHash = ({ hash: _, ...key }: AgentKey): ListedKey => key;
