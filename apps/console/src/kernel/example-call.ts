import type { Schemas } from './client.ts';

type Tool = Schemas['Connector']['tools'][number];

interface Described {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
}

/** What a call needs at least: each argument that must be there, with a value of its type. */
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

/** The tool to try first: of those that there are one that only reads, else any; null where there is none. */
export const firstTool = (connectors: readonly Pick<Schemas['Connector'], 'status' | 'tools'>[]): Tool | null => {
  const tools = connectors.filter(({ status }) => status === 'active').flatMap((connector) => connector.tools);
  return tools.find(({ side_effect: effect }) => effect === 'read') ?? tools[0] ?? null;
};
