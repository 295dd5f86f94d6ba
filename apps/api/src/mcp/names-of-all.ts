import type { ToolsNow } from '../connectors/organization-tools.js';
import { AWAIT_TOOL } from './served-tool.js';

/** Clients put a name of their own before ours, and what they make of it must fit their models' bound. */
const NAME_MAX = 64;

const BETWEEN = '__';

/**
 * The names of tools at `/mcp`, where those of all connectors stand beside each other. A tool that is held, gone or of a
 * disabled connector keeps its name: else a server could have another tool called by the name that clients know for it.
 */
export class NamesOfAll {
  /** The qualified name that each means; null where it could mean two tools, and means none. */
  private readonly meanings = new Map<string, string | null>();

  constructor(private readonly now: ToolsNow) {
    for (const { connector, tool } of now.known()) {
      const name = nameOf(connector, tool);
      this.meanings.set(name, this.meanings.has(name) ? null : `${connector}.${tool}`);
    }
  }

  /** Null for a tool that has no name there, and is called by its qualified name. */
  nameOf(connector: string, tool: string): string | null {
    const name = nameOf(connector, tool);
    const isNamed = name.length <= NAME_MAX && tool !== AWAIT_TOOL && this.meanings.get(name) !== null;
    return isNamed ? name : null;
  }

  /** The qualified name that the gate judges. Of what names no tool one that the refusal can tell what is wrong with. */
  qualified(name: string): string {
    const known = this.meanings.get(name);
    if (known === null || name.length > NAME_MAX) return name;
    const at = name.indexOf(BETWEEN);
    const [connector, tool] = [name.slice(0, at), name.slice(at + BETWEEN.length)];
    if (tool === AWAIT_TOOL) return name;
    return known ?? (at > 0 && this.now.has(connector) ? `${connector}.${tool}` : name);
  }
}

/** Claude Desktop refuses a whole list for one dotted name. */
const nameOf = (connector: string, tool: string): string => `${connector}${BETWEEN}${tool.replaceAll('.', '_')}`;
