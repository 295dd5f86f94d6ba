import { Injectable } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import {
  type ConnectorAddress,
  ConnectorStreams,
  type DiscoveredTool,
  discoveredStatusOf,
  type LiveConnector,
  ToolDefinitions,
} from '#libs/domain/connectors';
import type { ListCursors } from '../http/cursor-codec.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import type { FiltersOf } from '../lists/filters.js';
import { connectorToolView } from './connector-tool.view.js';

interface AskedPage {
  readonly limit: number;
  /** Null where all of them are asked for. */
  readonly statuses: FiltersOf<'listConnectorTools'>['status'];
}

/** The tools that a connector's server names, with what it says of them. As the log has them: nobody is asked. */
@Injectable()
export class ConnectorToolsReader {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly definitions: ToolDefinitions,
  ) {}

  /** By name; no more definitions are read than the page has. */
  async page(
    address: ConnectorAddress,
    { limit, statuses }: AskedPage,
    cursors: ListCursors,
  ): Promise<ListEnvelope<JsonObject>> {
    const connector = await this.connectors.live(address);
    const after = cursors.after as string | null;
    const byName = (connector.discovered?.tools ?? [])
      .filter((tool) => statuses === null || statuses.includes(discoveredStatusOf(tool)))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const rest = byName.filter(({ name }) => after === null || name > after);
    const rows = rest.slice(0, limit);
    const bodies = await this.bodiesOf(connector, rows);
    return pageOf({ rows, hasMore: rest.length > limit }, cursors, {
      item: (tool: DiscoveredTool) => connectorToolView(tool, bodies),
      position: ({ name }: DiscoveredTool) => name,
    });
  }

  private bodiesOf({ id }: LiveConnector, tools: readonly DiscoveredTool[]): Promise<ReadonlyMap<Digest, string>> {
    const digests = tools.flatMap(({ observed, accepted }) => [observed, accepted]);
    return this.definitions.get(id, [...new Set(digests.filter((digest) => digest !== null))]);
  }
}
