import { describe, expect, it } from 'vitest';

import { requireConnectorName } from './connector-name.js';

const refuses = (name: string, isProduction = false) =>
  expect(() => requireConnectorName(name, { isProduction })).toThrow(
    expect.objectContaining({ code: 'validation_failed', param: 'name', status: 400 }) as Error,
  );

describe('connector names (rule CON-1)', () => {
  it.each(['crm', 'a1', 'pay-eu-1', 'a'.repeat(32)])('%s is a name', (name) =>
    expect(requireConnectorName(name, { isProduction: true })).toBeUndefined(),
  );
  it.each([
    '',
    'a',
    '1a',
    '-a',
    'Crm',
    'crm.eu',
    'crm_eu',
    'a'.repeat(33),
    'сrm',
    'cr\u200bm',
    'crm\n',
    ' crm',
    'ｃrm',
  ])('%j is none', (name) => refuses(name));
  it.each(['service', 'mcp', 'native'])('%s is reserved', (name) => refuses(name));
  it('fake is reserved outside dev', () => {
    refuses('fake', true);
    expect(requireConnectorName('fake', { isProduction: false })).toBeUndefined();
  });
});
