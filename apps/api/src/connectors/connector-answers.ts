import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import {
  type ConnectorAddress,
  connectorDecider,
  connectorStreamId,
  type ConnectorTest,
  isConnectorName,
  type LiveConnector,
} from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';
import { type CommandMetadata, type DeedId, DomainError, type OrgId, parseId, streamOf } from '#libs/domain/kernel';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { ConnectorConditions } from './connector-conditions.js';
import { connectorView } from './connector.view.js';
import { FindConnectorName } from './find-connector.query-handler.js';
import { type OwnedTool, ServedWords } from './served-words.js';
import { decoderView, witnessView } from './witness.view.js';

/** What the connector routes have in common: finding the one that a path names, and answering with it. */
@Injectable()
export class ConnectorAnswers {
  constructor(
    private readonly queries: QueryBus,
    private readonly registry: ConnectorRegistry,
    private readonly deeds: ChangeDeeds,
    private readonly conditions: ConnectorConditions,
    private readonly words: ServedWords,
  ) {}

  /**
   * `{id}` of a path: a `con_` id or a name, which never look alike (rule CON-1).
   * @throws {DomainError} not_found
   */
  async addressOf(org: OrgId, text: string): Promise<ConnectorAddress> {
    const connector = parseId('con', text);
    if (connector) {
      const name = await this.queries.execute(new FindConnectorName(org, connector));
      if (name !== null) return { org, name, connector };
    } else if (isConnectorName(text)) {
      return { org, name: text, connector: null };
    }
    throw new DomainError('not_found');
  }

  async view(connector: LiveConnector): Promise<JsonObject> {
    const { test, decoder } = await this.conditions.of(connector);
    const tools = await this.words.of(this.toolsOf(connector));
    return { ...connectorView(connector, tools, test), ...witnessView(connector, decoder) };
  }

  /** @throws {DomainError} witness_not_configured */
  async decoder(connector: LiveConnector): Promise<JsonObject> {
    return decoderView(connector, (await this.conditions.of(connector)).decoder);
  }

  /**
   * Of many connectors at once, without what their servers say of the tools: that is read one connector at a time.
   * @param last its last test, as it was read with others
   */
  viewWith(connector: LiveConnector, last: ConnectorTest | null): JsonObject {
    return connectorView(connector, this.toolsOf(connector), last);
  }

  private toolsOf(connector: LiveConnector): readonly OwnedTool[] {
    const tools = this.registry.driverOf(connector.type)?.toolsOf(connector) ?? [];
    return tools.map((tool) => ({ connector, tool }));
  }

  /** The connector after a change, and the deed that seals it; null when nothing changed. */
  async changed(connector: LiveConnector, command: CommandMetadata): Promise<JsonObject> {
    return { ...(await this.view(connector)), deed: await this.deedOf(connector, command) };
  }

  deedOf({ org, name }: { org: OrgId; name: string }, command: CommandMetadata): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(connectorDecider.category, connectorStreamId(org, name)), command);
  }
}
