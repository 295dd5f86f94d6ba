import { describe, expect, it } from 'vitest';
import { type DatabaseConfig, databaseConfigOf, parametersOf, statementOf } from './database-config.ts';
import type { Connector } from './types.ts';

const refund = {
  name: 'refund',
  description: 'Refunds an order',
  sql: 'UPDATE orders SET refunded = true WHERE id = $1',
};
const connector = {
  type: 'database',
  name: 'shop',
  config: { host: 'db', tools: [refund] } as unknown as DatabaseConfig,
} satisfies Pick<Connector, 'type' | 'name' | 'config'>;

describe('the config of a database', () => {
  it('has the statement of a tool by its qualified name', () => {
    expect(statementOf(connector, 'shop.refund')).toBe(refund);
    expect(statementOf(connector, 'shop.execute')).toBeNull();
    expect(statementOf(connector, 'refund')).toBeNull();
    expect(statementOf({ ...connector, config: {} as DatabaseConfig }, 'shop.refund')).toBeNull();
  });

  it('is that of no other type', () => {
    expect(databaseConfigOf({ ...connector, type: 'rest' })).toBeNull();
    expect(statementOf({ ...connector, type: 'rest' }, 'shop.refund')).toBeNull();
  });

  it('names the parameters of a statement in their order', () =>
    expect(
      parametersOf({
        args: [
          { name: 'id', type: 'bigint', required: true },
          { name: 'note', type: 'string', required: false },
        ],
      }),
    ).toBe('$1 id (bigint), $2 note (string, or NULL)'));
});
