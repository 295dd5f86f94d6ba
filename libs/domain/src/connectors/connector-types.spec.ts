import { describe, expect, it } from 'vitest';
import { thrown } from '../../../../test/support/thrown.js';
import { DomainError } from '../kernel/index.js';
import { requireServedType, SERVED_TYPES } from './connector-types.js';
import { BRIDGE_FOR_STDIO } from './mcp/mcp-keys.js';

const refusal = (type: string): DomainError => thrown(DomainError, () => requireServedType(type));
const ALL = `type must be one of ${SERVED_TYPES.join(', ')}.`;

describe('the type of a connector', () => {
  it.each(SERVED_TYPES)('%s is served', (type) => expect(requireServedType(type)).toBe(type));

  it.each(['', 'mcp', 'REST', 'constructor'])('%j is none, and those that there are are named', (type) =>
    expect(refusal(type)).toMatchObject({ code: 'validation_failed', param: 'type', status: 400, message: ALL }),
  );

  it.each(['stdio', 'mcp_stdio', 'MCP-Stdio'])('%s is none, and the way to such a server is told', (type) =>
    expect(refusal(type)).toMatchObject({ code: 'validation_failed', message: `${ALL} ${BRIDGE_FOR_STDIO}` }),
  );
});
