import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError, Turns } from '#libs/domain/kernel';
import { OrganizationTools, type OfferedTool, type ToolsNow } from '../connectors/organization-tools.js';
import { ServedWords } from '../connectors/served-words.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { tellLag } from '../lists/projection-lag.js';
import { type ResolveToolsBody, TOOLS_MAX } from './resolve-tools.dto.js';

/** The last tool of a page, which the cursor holds. */
type Place = [connector: string, tool: string];

interface OfferedPage {
  readonly tools: readonly OfferedTool[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
}

/** The tools of an organization's connectors, in pages, ordered by the names of connector and tool. */
@Injectable()
export class OfferedTools {
  private readonly turns = new Turns();

  constructor(
    private readonly tools: OrganizationTools,
    private readonly cursors: CursorCodec,
    private readonly words: ServedWords,
  ) {}

  /**
   * One page of the tools of one connector, or of all.
   * @throws {DomainError} not_found if the connector does not exist; validation_failed with `param: cursor`
   */
  async page(
    { connector, cursor }: Pick<ResolveToolsBody, 'connector' | 'cursor'>,
    exchange: Exchange,
    reply: FastifyReply,
  ): Promise<OfferedPage> {
    const asked = {
      limit: TOOLS_MAX,
      ...(cursor === undefined ? {} : { cursor }),
      ...(connector === undefined ? {} : { connector }),
    };
    const cursors = this.cursors.forList(exchange, asked);
    const { tools: now, lagEvents } = await this.tools.read(exchange.caller.org);
    tellLag(reply, { lagEvents });
    if (connector !== undefined && !now.has(connector)) throw noSuchConnector(connector);
    const after = cursors.after as Place | null;
    const all = await this.behind(after, now, connector);
    const tools = await this.described(all.slice(0, TOOLS_MAX));
    const last = tools.at(-1);
    return { tools, next: last !== undefined && all.length > TOOLS_MAX ? cursors.next(placeOf(last)) : null };
  }

  /** With the words of servers, where they name the tools. */
  private async described(tools: readonly OfferedTool[]): Promise<readonly OfferedTool[]> {
    const owned = await this.words.of(tools.map((tool) => tool.owned));
    return tools.map((tool, index) => {
      const said = owned[index];
      if (said === undefined || said === tool.owned) return tool;
      const { description, inputSchema } = said.tool;
      return { ...tool, described: { description, input_schema: inputSchema } };
    });
  }

  /**
   * The tools after `after`, in order, from as few connectors as fill a page. Describing a connector's tools takes a
   * while, so the event loop gets a turn before each connector.
   */
  private async behind(after: Place | null, now: ToolsNow, connector: string | undefined): Promise<OfferedTool[]> {
    const names = now.connectorNames().filter((name) => connector === undefined || name === connector);
    const told: OfferedTool[] = [];
    for (const name of names.toSorted(order)) {
      if (told.length > TOOLS_MAX) break;
      if (after !== null && order(name, after[0]) < 0) continue;
      await this.turns.next();
      const tools = now.offeredBy(name).filter((tool) => after === null || compared(placeOf(tool), after) > 0);
      told.push(...tools.toSorted((one, other) => order(one.name, other.name)));
    }
    return told;
  }
}

const placeOf = ({ connector, name }: OfferedTool): Place => [connector, name];

const compared = ([connector, tool]: Place, [otherConnector, otherTool]: Place): number =>
  order(connector, otherConnector) || order(tool, otherTool);

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const noSuchConnector = (connector: string): DomainError =>
  new DomainError('not_found', {
    param: 'connector',
    message: `Your organization has no connector ${connector}. Leave out connector to list the tools of all of them.`,
  });
