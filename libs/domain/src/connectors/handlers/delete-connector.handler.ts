import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import { DomainError } from '../../kernel/index.js';
import { isLive } from '../connector.state.js';
import { ConnectorHealth } from '../connector-health.port.js';
import { ConnectorStreams } from '../connector-streams.js';
import { RunningExecutions } from '../running-executions.port.js';
import { Vault } from '../vault.port.js';
import { DeleteConnector } from './connector.messages.js';

@CommandHandler(DeleteConnector)
export class DeleteConnectorHandler implements ICommandHandler<DeleteConnector> {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly executions: RunningExecutions,
    private readonly vault: Vault,
    private readonly health: ConnectorHealth,
  ) {}

  /**
   * An action that starts between the question and the event finds the connector gone before its first byte.
   * @throws {DomainError} not_found; conflict while an action on it executes
   */
  async execute({ address, metadata }: DeleteConnector): Promise<void> {
    const { org, name, connector } = address;
    const { state } = await this.connectors.load(org, name);
    // A repeated command finds its own work done; the decider answers everybody else.
    const isMeant = isLive(state) && (connector === null || connector === state.id);
    if (isMeant && (await this.executions.isAnyRunning(org, state.id))) {
      throw new DomainError('conflict', {
        message:
          state.status === 'disabled'
            ? 'An action on this connector is still executing. The connector is disabled, so no other will begin: delete it again in a moment.'
            : 'An action on this connector is executing. Disable the connector, so that no other begins, and delete it when this one has ended.',
      });
    }
    const { events } = await this.connectors.run(org, name, {
      type: 'DeleteConnector',
      data: { connector },
      metadata,
    });
    for (const event of events) {
      if (event.type !== 'ConnectorDeleted') continue;
      await this.health.forget(event.data.connector);
      if (event.data.credential_version === null) continue;
      await this.vault.destroy({ org, object: event.data.connector, version: event.data.credential_version });
    }
  }
}
