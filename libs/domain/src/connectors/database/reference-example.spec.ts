import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { compilePolicy } from '../../policies/index.js';
import { boundStatementOf } from './database-arguments.js';
import { ARGUMENT_TYPES, DATABASE_LIMITS } from './database-config.js';
import { readDatabaseConfig } from './database-config.reader.js';
import { DATABASE_PLACES } from './database-keys.js';

const reference = readFileSync(new URL('../../../../../docs/connectors-database.md', import.meta.url), 'utf8');

describe('docs/connectors-database.md', () => {
  const [, example = '{}'] = /```json\n([\s\S]*?)\n```/.exec(reference) ?? [];
  const config = readDatabaseConfig((JSON.parse(example) as { config: JsonObject }).config, { isProduction: true });

  it('shows a config that production accepts, with tools that bind statements', () => {
    const args = { get_order: { id: '42' }, refund_order: { id: '42', amount: '19.90' } };
    const bound = Object.entries(args).map(([tool, given]) => boundStatementOf(config, tool, given));
    expect(bound).toMatchObject([
      { ok: true, params: ['42'] },
      { ok: true, params: ['42', '19.90'] },
    ]);
  });

  it('shows policies that compile', () => {
    const sources = [...reference.matchAll(/```yaml\n([\s\S]*?)\n```/g)].map(([, source = '']) => source);
    expect(sources.map((source) => compilePolicy(source))).toMatchObject([{ ok: true }]);
  });

  it('tells every key of the config, and every type of argument', () => {
    const told = (name: string): boolean => reference.includes(`| \`${name}\``);
    const keys = DATABASE_PLACES.config.keys.filter((key) => key !== 'auth' && key !== 'witness');
    expect(keys.filter((key) => !told(key))).toEqual([]);
    expect(ARGUMENT_TYPES.filter((type) => !told(type))).toEqual([]);
    for (const key of DATABASE_PLACES.witness.keys) expect(reference).toContain(`\`witness.${key}\``);
  });

  it('states the limits as they are', () => {
    const { statementTimeoutMs, rowsChanged, rowsReturned, resultBytes, witnessTimeoutMs } = DATABASE_LIMITS;
    const limits = {
      statement_timeout_ms: statementTimeoutMs,
      max_rows_changed: rowsChanged,
      max_rows_returned: rowsReturned,
      max_result_bytes: resultBytes,
      'witness.timeout_ms': witnessTimeoutMs,
    };
    for (const [key, { min, max, fallback }] of Object.entries(limits))
      expect(reference).toContain(`| \`${key}\` | ${fallback} | ${min} to ${max}`);
  });
});
