import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { REST_LIMITS, restConfigOf } from './rest-config.js';
import { buildRestRequest } from './rest-request.js';
import { readConfig } from '../connector-types.js';

const reference = readFileSync(new URL('../../../../../docs/connectors-rest.md', import.meta.url), 'utf8');

describe('docs/connectors-rest.md', () => {
  const [, example = '{}'] = /```json\n([\s\S]*?)\n```/.exec(reference) ?? [];
  const { config } = JSON.parse(example) as { config: JsonObject };

  it('shows a config that production accepts', () =>
    expect(readConfig('rest', config, { isProduction: true }).destinations).toEqual(['https://api.example.com/v2']));

  it('shows tools that build requests', () => {
    const stored = restConfigOf(readConfig('rest', config, { isProduction: true }).config);
    const built = stored.tools.map((tool) => buildRestRequest(stored, tool, { id: '42', text: 'x' }, 'act_x'));
    expect(built.map(({ ok }) => ok)).toEqual([false, true]);
    expect(buildRestRequest(stored, stored.tools[0] as (typeof stored.tools)[0], { id: '42' }, 'act_x')).toMatchObject({
      request: { path: '/v2/customers/42' },
    });
  });

  it('states the limits as they are', () => {
    const { timeoutMs, maxResponseBytes } = REST_LIMITS;
    expect(reference).toContain(`| \`timeout_ms\` | ${timeoutMs.fallback} | ${timeoutMs.min} to ${timeoutMs.max}:`);
    expect(reference).toContain(
      `| \`max_response_bytes\` | ${maxResponseBytes.fallback} | ${maxResponseBytes.min} to ${maxResponseBytes.max},`,
    );
  });
});
