import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';

import { sha256Hex } from '#libs/crypto';

import { DomainError, streamOf } from '../../kernel/index.js';
import { connectorDecider } from '../connector.decider.js';
import { connectorStreamId, type LiveConnector } from '../connector.state.js';
import { ConnectorStreams } from '../connector-streams.js';
import { readCredentialFor } from '../connector-types.js';
import { type StoredSecret, Vault } from '../vault.port.js';
import { PutCredentials } from './connector.messages.js';
import { ToolDiscovery } from './tool-discovery.js';

@CommandHandler(PutCredentials)
export class PutCredentialsHandler implements ICommandHandler<PutCredentials> {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly vault: Vault,
    private readonly discovery: ToolDiscovery,
  ) {}

  /**
   * Writes the rows first, inert, and then the event that names them. The version before stays until the sweeper finds
   * it, because a call may be about to open it.
   * @throws {DomainError} not_found; validation_failed, param `kind`, `secret` or `secret.<field>`; what the type refuses;
   * vault_unavailable
   */
  async execute({ address, credential, metadata }: PutCredentials): Promise<LiveConnector> {
    const { org, name, connector } = address;
    const live = await this.connectors.live(address);
    const { facts, values } = readCredentialFor(live, credential);
    const version = sha256Hex(`service/credential-version/v1\n${metadata.commandId}`).slice(0, 32);
    const data = { connector, credential: { ...facts, version } };
    const command = { type: 'PutCredentials' as const, data, metadata };
    // Refuses what cannot become an event before anything is written.
    connectorDecider.decide(command, live);
    const stream = streamOf(connectorDecider.category, connectorStreamId(org, name));
    const secret: StoredSecret = { org, object: live.id, version, stream };
    await this.store(secret, values);
    try {
      const changed = await this.connectors.runOnLive(org, name, command);
      this.discovery.begin(changed);
      return changed;
    } catch (error) {
      // Only a certain refusal: after an unclear append the event may name these rows.
      if (error instanceof DomainError) await this.vault.destroy(secret);
      throw error;
    }
  }

  private async store(secret: StoredSecret, values: ReadonlyMap<string, string>): Promise<void> {
    if (values.size === 0) return;
    const fields = new Map([...values].map(([field, value]) => [field, Buffer.from(value)]));
    try {
      await this.vault.put(secret, fields);
    } finally {
      for (const bytes of fields.values()) bytes.fill(0);
    }
  }
}
