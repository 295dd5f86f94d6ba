import {
  type CommandRunner,
  DomainError,
  type Folded,
  type FoldedStreams,
  type OrgId,
  streamRef,
} from '../kernel/index.js';
import type { ConnectorCommand } from './connector.commands.js';
import { connectorDecider } from './connector.decider.js';
import type { ConnectorEvent } from './connector.events.js';
import { type ConnectorState, connectorStreamId, isLive, type LiveConnector } from './connector.state.js';

/** Reads and changes connectors by their name. The state comes from the stream, never from a projection. */
export class ConnectorStreams {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
  ) {}

  load(org: OrgId, name: string): Promise<Folded<ConnectorState>> {
    return this.streams.load(streamRef(connectorDecider, connectorStreamId(org, name)));
  }

  /**
   * @throws {DomainError} not_found: no live connector of that name, or of that id when one is given
   */
  async live(address: {
    readonly org: OrgId;
    readonly name: string;
    readonly connector: string | null;
  }): Promise<LiveConnector> {
    const { state } = await this.load(address.org, address.name);
    if (!isLive(state) || (address.connector !== null && address.connector !== state.id)) {
      throw new DomainError('not_found');
    }
    return state;
  }

  /** The state after the command, and what it wrote: nothing when nothing changed or the command had run before. */
  async run(
    org: OrgId,
    name: string,
    command: ConnectorCommand,
  ): Promise<{ readonly state: ConnectorState; readonly events: readonly ConnectorEvent[] }> {
    const id = connectorStreamId(org, name);
    const { folded, events } = await this.runner.run(connectorDecider, id, command, command.metadata);
    return { state: folded.state, events: events.map(({ event }) => event as ConnectorEvent) };
  }

  /** @throws {DomainError} not_found when the connector is gone by now: only a repeated command can meet that */
  async runOnLive(org: OrgId, name: string, command: ConnectorCommand): Promise<LiveConnector> {
    const { state } = await this.run(org, name, command);
    if (!isLive(state)) throw new DomainError('not_found');
    return state;
  }
}
