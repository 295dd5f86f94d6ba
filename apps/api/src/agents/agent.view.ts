import type { JsonObject } from '#libs/crypto';
import type { AgentKey, IntentKey, LivingAgent } from '#libs/domain/agents';
import type { DeedId, Timestamp } from '#libs/domain/kernel';
import { isKeyActive } from '#libs/domain/people';

/** The agent as the API shows it. @param at decides which keys count as active */
export const agentView = (agent: LivingAgent, at: Timestamp): JsonObject => ({
  object: 'agent',
  id: agent.agent,
  name: agent.name,
  status: agent.status,
  status_reason: agent.statusReason,
  labels: { ...agent.labels },
  owner: agent.owner,
  intent_mode: agent.intentMode,
  budgets: {
    calls_per_day: agent.budgets.calls_per_day,
    spend_per_day: agent.budgets.spend_per_day && { ...agent.budgets.spend_per_day },
  },
  active_keys: [...agent.keys.values()].filter((key) => isKeyActive(key, at)).length,
  intent_keys: agent.intentKeys.length,
  created_at: agent.createdAt,
});

/** Of an API key: all but its secret, of which nobody has more than a hash. */
export const apiKeyView = ({ agent }: LivingAgent, key: AgentKey): JsonObject => ({
  object: 'api_key',
  id: key.key,
  agent,
  prefix: keyPrefix(key),
  livemode: key.livemode,
  scopes: [...key.scopes],
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
});

/** As a key begins: what logs and people may show of it. */
export const keyPrefix = ({ livemode, prefix }: Pick<AgentKey, 'livemode' | 'prefix'>): string =>
  `svc_${livemode ? 'live' : 'test'}_${prefix}`;

/** @param deed the one that seals its registration */
export const intentKeyView = ({ agent }: LivingAgent, key: IntentKey, deed: DeedId | null): JsonObject => ({
  object: 'intent_key',
  kid: key.kid,
  agent,
  public_key: key.publicKey,
  created_at: key.createdAt,
  created_by: { ...key.createdBy },
  deed,
});
