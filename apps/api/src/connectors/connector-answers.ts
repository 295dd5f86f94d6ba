import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import {
  type ConnectorAddress,
  connectorDecider,
  ConnectorHealth,
  connectorStreamId,
  type ConnectorTest,
  isConnectorName,
  type LiveConnector,
} from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';
import { type CommandMetadata, type DeedId, DomainError, type OrgId, parseId, streamOf } from '#libs/domain/kernel';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { connectorView } from './connector.view.js';
import { FindConnectorName } from './find-connector.query-handler.js';

/** What the connector routes have in common: finding the one that a path names, and answering with it. */
@Injectable()
export class ConnectorAnswers {
  constructor(
    private readonly queries: QueryBus,
    private readonly registry: ConnectorRegistry,
    private readonly deeds: ChangeDeeds,
    private readonly health: ConnectorHealth,
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
    const last = await this.health.lastOf([connector.id]);
    return this.viewWith(connector, last.get(connector.id) ?? null);
  }

  /** @param last its last test, as it was read with others */
  viewWith(connector: LiveConnector, last: ConnectorTest | null): JsonObject {
    return connectorView(connector, this.registry.driverOf(connector.type), last);
  }

  /** The connector after a change, and the deed that seals it; null when nothing changed. */
  async changed(connector: LiveConnector, command: CommandMetadata): Promise<JsonObject> {
    return { ...(await this.view(connector)), deed: await this.deedOf(connector, command) };
  }

  deedOf({ org, name }: { org: OrgId; name: string }, command: CommandMetadata): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(connectorDecider.category, connectorStreamId(org, name)), command);
  }
}
