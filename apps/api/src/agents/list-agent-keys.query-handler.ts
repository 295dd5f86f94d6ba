import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { agentDecider, type AgentEvent, type AgentKey, type IntentKey, type LivingAgent } from '#libs/domain/agents';
import { decodeEvent, type DeedId, deedOf, EventStore, streamOf } from '#libs/domain/kernel';
import { type Listed, pageOfNewest, type PageRequest, type TimePosition } from '../lists/listed.js';

/** GET /v1/agents/{id}/keys: newest first. They are in the agent's own stream, so the list is never behind. */
export class ListAgentKeys extends Query<Listed<AgentKey>> {
  constructor(
    readonly agent: LivingAgent,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListAgentKeys)
export class ListAgentKeysHandler implements IQueryHandler<ListAgentKeys> {
  execute({ agent, page }: ListAgentKeys): Promise<Listed<AgentKey>> {
    const keys = [...agent.keys.values()];
    return Promise.resolve(pageOfNewest(keys, ({ key: id, createdAt }) => ({ id, createdAt }), page));
  }
}

export interface ListedIntentKey {
  readonly key: IntentKey;
  readonly deed: DeedId | null;
}

/** GET /v1/agents/{id}/intent-keys: newest first, each with the deed that seals its registration. */
export class ListIntentKeys extends Query<Listed<ListedIntentKey>> {
  constructor(
    readonly agent: LivingAgent,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListIntentKeys)
export class ListIntentKeysHandler implements IQueryHandler<ListIntentKeys> {
  constructor(private readonly store: EventStore) {}

  async execute({ agent, page }: ListIntentKeys): Promise<Listed<ListedIntentKey>> {
    const found = pageOfNewest(agent.intentKeys, ({ kid: id, createdAt }) => ({ id, createdAt }), page);
    const deeds = found.rows.length === 0 ? new Map<string, DeedId | null>() : await this.deedsOf(agent);
    return { ...found, rows: found.rows.map((key) => ({ key, deed: deeds.get(key.kid) ?? null })) };
  }

  /** By kid. A key that was removed and came back has the deed of its last registration. */
  private async deedsOf({ agent }: LivingAgent): Promise<ReadonlyMap<string, DeedId | null>> {
    const events = await this.store.readStream(streamOf(agentDecider.category, agent));
    return new Map(
      events
        .map((recorded) => decodeEvent(recorded))
        .flatMap((envelope): [string, DeedId | null][] => {
          const event = envelope.event as AgentEvent;
          return event.type === 'AgentIntentKeyAdded' ? [[event.data.kid, deedOf(envelope)]] : [];
        }),
    );
  }
}
