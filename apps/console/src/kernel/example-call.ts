import type { Schemas } from './client.ts';

type Tool = Schemas['Connector']['tools'][number];

interface Described {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
}

/** The smallest arguments of a call: each required argument, with a value of its type. */
export const exampleArgs = ({ input_schema: schema }: Pick<Tool, 'input_schema'>): Record<string, unknown> => {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, Described>>;
    required?: readonly string[];
  };
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]));
};

const exampleOf = (described: Described): unknown => {
  if (described.default !== undefined) return described.default;
  if (described.enum !== undefined) return described.enum[0];
  switch (described.type) {
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
