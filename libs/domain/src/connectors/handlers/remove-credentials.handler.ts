import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import { DomainError } from '../../kernel/index.js';
import { isLive, type LiveConnector } from '../connector.state.js';
import { ConnectorStreams } from '../connector-streams.js';
import { Vault } from '../vault.port.js';
import { RemoveCredentials } from './connector.messages.js';

@CommandHandler(RemoveCredentials)
export class RemoveCredentialsHandler implements ICommandHandler<RemoveCredentials> {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly vault: Vault,
  ) {}

  /** @throws {DomainError} not_found */
  async execute({ address, metadata }: RemoveCredentials): Promise<LiveConnector> {
    const { org, name, connector } = address;
    const { state, events } = await this.connectors.run(org, name, {
      type: 'RemoveCredentials',
      data: { connector },
      metadata,
    });
    for (const event of events) {
      if (event.type !== 'ConnectorCredentialsRemoved') continue;
      await this.vault.destroy({ org, object: event.data.connector, version: event.data.version });
    }
    if (!isLive(state)) throw new DomainError('not_found');
    return state;
  }
}
