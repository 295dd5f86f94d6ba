import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import type { LiveConnector } from '../connector.state.js';
import { ConnectorStreams } from '../connector-streams.js';
import { AcceptTools } from './connector.messages.js';

@CommandHandler(AcceptTools)
export class AcceptToolsHandler implements ICommandHandler<AcceptTools> {
  constructor(private readonly connectors: ConnectorStreams) {}

  /** @throws {DomainError} not_found; conflict, param `tools[i].definition_digest` */
  execute({ address, tools, metadata }: AcceptTools): Promise<LiveConnector> {
    const { org, name, connector } = address;
    return this.connectors.runOnLive(org, name, { type: 'AcceptTools', data: { connector, tools }, metadata });
  }
}
