import type { Schemas } from './client.ts';

type Tool = Schemas['Connector']['tools'][number];

type Described = Readonly<Record<string, unknown>>;

const isDescribed = (value: unknown): value is Described =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A longer example is none. */
const EXAMPLE_MAX_LENGTH = 2_000;

/**
 * The smallest arguments of a call: each required argument, with a value of its type. The schema may be that of an MCP
 * server, so any member may have any form and any length.
 */
export const exampleArgs = ({ input_schema: schema }: Pick<Tool, 'input_schema'>): Record<string, unknown> => {
  const { properties, required } = schema as Described;
  const described = isDescribed(properties) ? properties : {};
  const names = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
  const args = Object.fromEntries(names.map((name) => [name, exampleOf(described[name])]));
  return JSON.stringify(args).length > EXAMPLE_MAX_LENGTH ? {} : args;
};

const exampleOf = (value: unknown): unknown => {
  const described = isDescribed(value) ? value : {};
  const choices = described['enum'];
  if (described['default'] !== undefined) return described['default'];
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown;
  switch (described['type']) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '42';
  }
};

/**
 * The tool to suggest for a first call: a read tool of an active connector if there is one, else any tool of one; null
 * if there is none.
 */
export const firstTool = (connectors: readonly Pick<Schemas['Connector'], 'status' | 'tools'>[]): Tool | null => {
  const tools = connectors.filter(({ status }) => status === 'active').flatMap((connector) => connector.tools);
  return tools.find(({ side_effect: effect }) => effect === 'read') ?? tools[0] ?? null;
};
