import { expect } from 'vitest';
import { POLICY } from './lab.js';
import type { RefusalGroup, Verdict } from './refusal.js';

const MISSPELT = POLICY.replace('default: deny', 'default: denied');
const CASES = '- name: a\n  input:\n    tool: lab.read\n  expect:\n    decision: deny\n';
const INPUT = { tool: 'lab.read' };

const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];
const unreadable = (param: string): Verdict => [400, 'invalid_request_error', 'policy_invalid', param];

export const POLICY_TRIALS: RefusalGroup = {
  title: 'the routes that try a policy',
  refusals: [
    {
      rule: 'a test of a source with an error',
      verdict: unreadable('source'),
      carries: 'diagnostics',
      provoke: ({ admin }) => admin('POST', '/v1/policies/test', { json: { source: MISSPELT, cases: CASES } }),
    },
    {
      rule: 'cases that cannot be read, whose line and hint are told',
      verdict: unreadable('cases'),
      carries: 'diagnostics',
      provoke: ({ admin }) =>
        admin('POST', '/v1/policies/test', { json: { source: POLICY, cases: CASES.replace('deny', 'denied') } }),
    },
    {
      rule: 'a dry run of a source with an error',
      verdict: unreadable('source'),
      carries: 'diagnostics',
      provoke: ({ admin }) => admin('POST', '/v1/policies/dry-run', { json: { source: MISSPELT, input: INPUT } }),
    },
    {
      rule: 'a dry run of nothing',
      verdict: invalid('action'),
      provoke: ({ admin }) => admin('POST', '/v1/policies/dry-run', { json: { source: POLICY } }),
    },
    {
      rule: 'a dry run of an input without a tool',
      verdict: invalid('input.tool'),
      provoke: ({ admin }) => admin('POST', '/v1/policies/dry-run', { json: { source: POLICY, input: {} } }),
    },
    {
      rule: 'a dry run of a version without its policy',
      verdict: invalid('source'),
      provoke: ({ admin }) => admin('POST', '/v1/policies/dry-run', { json: { version: 1, input: INPUT } }),
    },
    {
      rule: 'a dry run of an action that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', 'action'],
      provoke: ({ admin }) =>
        admin('POST', '/v1/policies/dry-run', { json: { source: POLICY, action: `act_${'0'.repeat(26)}` } }),
    },
    {
      rule: 'a dry run of an action whose input is stored no more',
      verdict: [409, 'invalid_request_error', 'conflict', 'action'],
      provoke: async ({ act, admin, database }) => {
        const { json } = await act('lab.read', 'tried');
        const action = String(json['id']);
        await database.query(`delete from gate.payloads where owner = $1`, [action]);
        for (;;) {
          // The process that wrote it remembers it for a moment.
          const answer = await admin('POST', '/v1/policies/dry-run', { json: { source: POLICY, action } });
          if (answer.status !== 200) return answer;
        }
      },
    },
    {
      rule: 'a preview of a source with an error',
      verdict: unreadable('source'),
      carries: 'diagnostics',
      provoke: ({ admin }) => admin('POST', '/v1/policies/preview', { json: { source: MISSPELT } }),
    },
    {
      rule: 'a preview of more actions than are looked at',
      verdict: invalid('actions'),
      provoke: ({ admin }) => admin('POST', '/v1/policies/preview', { json: { source: POLICY, actions: 2_001 } }),
    },
    {
      rule: 'a test after sixty within a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': expect.stringMatching(/^[1-5]?\d$|^60$/) as string },
      provoke: async ({ send, people }) => {
        const cases = '- name: one\n  input:\n    tool: none.such\n  expect:\n    decision: deny\n';
        const test = () => send('POST', '/v1/policies/test', { as: people.owner, json: { source: POLICY, cases } });
        for (let count = 0; count < 60; count += 1) await test();
        return test();
      },
    },
    {
      rule: 'a preview after twenty within a minute',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': expect.stringMatching(/^[1-5]?\d$|^60$/) as string },
      // As a person: the key is asked for more below.
      provoke: async ({ send, people }) => {
        const sent = { as: people.owner, json: { source: POLICY, tool: 'none.such' } };
        const preview = () => send('POST', '/v1/policies/preview', sent);
        for (let count = 0; count < 20; count += 1) await preview();
        return preview();
      },
    },
  ],
};
