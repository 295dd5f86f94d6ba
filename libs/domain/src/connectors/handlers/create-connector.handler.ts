import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import { derivedId, DESTINATION_NEXT, DomainError } from '../../kernel/index.js';
import type { LiveConnector } from '../connector.state.js';
import { requireConnectorName } from '../connector-name.js';
import { ConnectorSettings } from '../connector-settings.js';
import { ConnectorStreams } from '../connector-streams.js';
import { readConfig, requireServedType, type StoredConfig } from '../connector-types.js';
import { EgressPolicy } from '../egress-policy.port.js';
import { CreateConnector } from './connector.messages.js';
import { ToolDiscovery } from './tool-discovery.js';
import { requireDescription } from './description.js';

@CommandHandler(CreateConnector)
export class CreateConnectorHandler implements ICommandHandler<CreateConnector> {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly egress: EgressPolicy,
    private readonly settings: ConnectorSettings,
    private readonly discovery: ToolDiscovery,
  ) {}

  /**
   * @throws {DomainError} validation_failed with the field in `param`; destination_blocked, `param` the field with the
   * address; conflict, param `name`
   */
  async execute({ org, request, metadata }: CreateConnector): Promise<LiveConnector> {
    const type = requireServedType(request.type, this.settings);
    requireConnectorName(request.name, this.settings);
    const description = requireDescription(request.description);
    const stored = readConfig(type, request.config, this.settings);
    await requireAllowed(this.egress, stored);
    const { config, configHash } = stored;
    const connector = derivedId('con', metadata.commandId);
    const data = { org, connector, name: request.name, type, description, config, configHash };
    const created = await this.connectors.runOnLive(org, request.name, { type: 'CreateConnector', data, metadata });
    this.discovery.begin(created);
    return created;
  }
}

/** An address that the egress rules forbid is 400 destination_blocked (rule CON-7). */
export const requireAllowed = async (
  egress: EgressPolicy,
  { destinations, addressParam: param }: Pick<StoredConfig, 'destinations' | 'addressParam'>,
): Promise<void> => {
  for (const destination of destinations) {
    try {
      await egress.check(destination);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'destination_blocked') throw error;
      const message = `The address of ${param} is not open to connectors. ${DESTINATION_NEXT}`;
      throw new DomainError('destination_blocked', { param, message, cause: error });
    }
  }
};
