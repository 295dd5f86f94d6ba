import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import type { JsonValue } from '#libs/crypto';

import type { CheckedConfig } from '../connector.commands.js';
import type { LiveConnector } from '../connector.state.js';
import { ConnectorSettings } from '../connector-settings.js';
import { ConnectorStreams } from '../connector-streams.js';
import { readConfig, requireServedType } from '../connector-types.js';
import { EgressPolicy } from '../egress-policy.port.js';
import { UpdateConnector } from './connector.messages.js';
import { requireAllowed } from './create-connector.handler.js';
import { requireDescription } from './description.js';
import { ToolDiscovery } from './tool-discovery.js';

@CommandHandler(UpdateConnector)
export class UpdateConnectorHandler implements ICommandHandler<UpdateConnector> {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly egress: EgressPolicy,
    private readonly settings: ConnectorSettings,
    private readonly discovery: ToolDiscovery,
  ) {}

  /**
   * @throws {DomainError} not_found; validation_failed with the field in `param`; destination_blocked, `param` the field
   * with the address; conflict, param `expected_config_hash`
   */
  async execute({ address, changes, metadata }: UpdateConnector): Promise<LiveConnector> {
    const { type, configHash } = await this.connectors.live(address);
    const { description, status, expectedConfigHash } = changes;
    // In production there may be one left of a type for development: it is not enabled again.
    if (status === 'active') requireServedType(type, this.settings);
    const config = changes.config === undefined ? undefined : await this.checked(type, changes.config);
    const data = {
      connector: address.connector,
      ...(description === undefined ? {} : { description: requireDescription(description) }),
      ...(status === undefined ? {} : { status }),
      ...(config === undefined ? {} : { config }),
      ...(expectedConfigHash === undefined ? {} : { expectedConfigHash }),
    };
    const updated = await this.connectors.runOnLive(address.org, address.name, {
      type: 'UpdateConnector',
      data,
      metadata,
    });
    if (updated.configHash !== configHash) this.discovery.begin(updated);
    return updated;
  }

  private async checked(type: LiveConnector['type'], value: JsonValue): Promise<CheckedConfig> {
    const stored = readConfig(type, value, this.settings);
    await requireAllowed(this.egress, stored);
    return { config: stored.config, configHash: stored.configHash };
  }
}
