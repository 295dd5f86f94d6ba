import { type Digest, encodeHex } from '#libs/crypto';

import { type Clock, type Randomness, SYSTEM, timestampOf } from '../kernel/index.js';
import type { LiveConnector } from './connector.state.js';
import type { ConnectorStreams } from './connector-streams.js';
import { type AcceptanceRule, recordedTools, type ToolList } from './discovered-tools.js';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.port.js';

/** A list of a connector's server, with the definitions that it names. */
export interface FetchedTools extends ToolList {
  readonly definitions: readonly ToolDefinition[];
}

/** Brings what servers say of their tools into the log. The service does it by itself, so its deeds are the system's. */
export class ToolRecorder {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly definitions: ToolDefinitions,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness },
  ) {}

  /**
   * Writes the definitions first, inert, and then the event that names them, where the list differs from the log's.
   * @param connector as it was when its server was asked, with the config of then
   * @param after the list that the log had then
   * @returns the connector as it is then
   * @throws {DomainError} not_found; conflict, when config or list changed meanwhile; rate_limited, when the server changes
   * its tools too often
   */
  async record(
    connector: LiveConnector,
    list: FetchedTools,
    { rule, after }: { readonly rule: AcceptanceRule; readonly after: Digest | null },
  ): Promise<LiveConnector> {
    const { org, name, id, configHash, discovered: before } = connector;
    const { clock, randomness } = this.sources;
    const now = timestampOf(clock.nowMs());
    // What the log will refuse is not written beside it either: no server fills the disk with definitions.
    recordedTools(list, { before, after, rule, at: now });
    await this.definitions.put({ org, name, connector: id }, list.definitions);
    const metadata = {
      org,
      actor: SYSTEM,
      requestId: null,
      commandId: encodeHex(randomness.bytes(16)),
      now,
    };
    const since = { configHash, listDigest: after };
    const { protocol, listDigest, tools, leftOut } = list;
    const data = {
      connector: id,
      list: {
        protocol,
        listDigest,
        tools: tools.map(({ name: tool, definition, hints }) => ({ name: tool, definition, hints })),
        leftOut,
      },
      rule,
      since,
    };
    return this.connectors.runOnLive(org, name, { type: 'RecordTools', data, metadata });
  }
}
