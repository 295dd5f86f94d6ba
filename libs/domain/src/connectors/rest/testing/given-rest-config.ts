import { expect } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { thrown } from '../../../../../../test/support/thrown.js';
import { DomainError } from '../../../kernel/index.js';
import type { RestConfig } from '../rest-config.js';
import { readRestConfig } from '../rest-config.reader.js';

/** A tool that reads, as an admin would write it, but for `changes`. */
export const tool = (changes: JsonObject = {}): JsonObject => ({
  name: 'get_user',
  method: 'GET',
  path: '/v1/users',
  ...changes,
});

/** A config with that tool alone, but for `changes`. */
export const config = (changes: JsonObject = {}): JsonObject => ({
  base_url: 'https://api.example.com',
  allowed_methods: ['GET', 'POST', 'DELETE'],
  allowed_path_prefixes: ['/v1'],
  tools: [tool()],
  ...changes,
});

export const withTool = (changes: JsonObject): JsonObject => config({ tools: [tool(changes)] });

export const read = (value: JsonValue, isProduction = true): RestConfig => readRestConfig(value, { isProduction });

export const refusal = (value: JsonValue, isProduction = true): DomainError =>
  thrown(DomainError, () => read(value, isProduction));

/** Where the refused config is wrong; the message says it too. */
export const paramOf = (value: JsonValue, isProduction = true): string | null => {
  const { code, status, param, message } = refusal(value, isProduction);
  expect({ code, status, start: message.slice(0, `${param} `.length) }).toEqual({
    code: 'validation_failed',
    status: 400,
    start: `${param} `,
  });
  return param;
};
