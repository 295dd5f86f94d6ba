import { Injectable } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import { type LiveConnector, ToolDefinitions, type ToolDescription } from '#libs/domain/connectors';
import { withoutMarks } from './shown-schema.js';

/** A tool and the connector that has it. */
export interface OwnedTool {
  readonly connector: LiveConnector;
  readonly tool: ToolDescription;
}

/**
 * What the servers of connectors say of their tools, for those who look at them: description and schema of the arguments stand
 * in rows, by the digest that the log names. Tools that a config describes are as they are, and cost nothing.
 */
@Injectable()
export class ServedWords {
  constructor(private readonly definitions: ToolDefinitions) {}

  async of<Owned extends OwnedTool>(tools: readonly Owned[]): Promise<readonly Owned[]> {
    const served = tools.filter(({ tool }) => tool.definition !== undefined);
    if (served.length === 0) return tools;
    const bodies = await this.bodiesOf(served);
    return tools.map((owned) => {
      const body = owned.tool.definition === undefined ? undefined : bodies.get(owned.tool.definition);
      return body === undefined ? owned : { ...owned, tool: { ...owned.tool, ...wordsIn(body) } };
    });
  }

  private async bodiesOf(tools: readonly OwnedTool[]): Promise<ReadonlyMap<Digest, string>> {
    const byConnector = new Map<LiveConnector['id'], Digest[]>();
    for (const { connector, tool } of tools) {
      const digests = byConnector.get(connector.id) ?? [];
      if (tool.definition !== undefined) byConnector.set(connector.id, [...digests, tool.definition]);
    }
    const found = [...byConnector].map(async ([id, digests]) => [...(await this.definitions.get(id, digests))]);
    // A definition holds the tool's name; where two connectors have the same one, they say the same of it.
    return new Map((await Promise.all(found)).flat());
  }
}

const wordsIn = (body: string): Pick<ToolDescription, 'description' | 'inputSchema'> => {
  const { description, inputSchema } = JSON.parse(body) as JsonObject;
  return {
    description: typeof description === 'string' ? description : null,
    inputSchema: withoutMarks(inputSchema ?? {}) as JsonObject,
  };
};
