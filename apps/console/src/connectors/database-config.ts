import type { Schemas } from '../kernel/client.ts';
import type { Connector } from './types.ts';

export type DatabaseConfig = Schemas['DatabaseConfig'];
export type DatabaseTool = NonNullable<DatabaseConfig['tools']>[number];

/** The config of a connector of type `database`; null for all other types. */
export const databaseConfigOf = ({ type, config }: Pick<Connector, 'type' | 'config'>): DatabaseConfig | null =>
  type === 'database' ? (config as DatabaseConfig) : null;

/**
 * The fixed statement of a tool.
 * @param tool its qualified name
 * @returns null for `query` and `execute`, whose calls bring a statement of their own, and for other types
 */
export const statementOf = (
  connector: Pick<Connector, 'type' | 'config' | 'name'>,
  tool: string,
): DatabaseTool | null =>
  databaseConfigOf(connector)?.tools?.find(({ name }) => `${connector.name}.${name}` === tool) ?? null;

/** `$1 id (bigint), $2 note (string, or NULL)`: what each parameter of a statement is. */
export const parametersOf = ({ args = [] }: Pick<DatabaseTool, 'args'>): string =>
  args
    .map(({ name, type, required }, index) => `$${index + 1} ${name} (${type}${required ? '' : ', or NULL'})`)
    .join(', ');
