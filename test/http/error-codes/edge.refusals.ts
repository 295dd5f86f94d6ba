import type { Answer } from '../../support/service.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const CONFLICT: Verdict = [409, 'invalid_request_error', 'conflict', null];
const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];
const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];

const AT = '2026-10-01T09:00:00.000Z';
const REPORT = { status: 'succeeded', started_at: AT, finished_at: AT, result: { rows: 3 } };
const MIB = 1024 * 1024;

const submitted = async ({ agent }: Stage, fields: object): Promise<string> => {
  const { json, error } = await agent('POST', '/v1/actions', {
    json: { tool: 'lab.write', args: { id: 'open' }, ...fields },
  });
  return String(((error['action'] ?? json) as { id: string }).id);
};

/** A call that the agent is to run itself, and what it reports of it. */
const reported = async (stage: Stage, report: object): Promise<Answer> => {
  const id = await submitted(stage, { mode: 'proxy' });
  return stage.agent('POST', `/v1/actions/${id}/result`, { json: report });
};

const refusedReport = (rule: string, param: string, changes: object): Refusal => ({
  rule,
  verdict: invalid(param),
  provoke: (stage) => reported(stage, { ...REPORT, ...changes }),
});

/** POST /v1/actions in the mode proxy, and POST /v1/actions/{id}/result (rule GATE-17). */
export const EDGE: RefusalGroup = {
  title: 'a call that its agent runs itself',
  refusals: [
    {
      rule: 'a connector type in the mode gateway',
      verdict: invalid('connector_type'),
      provoke: ({ agent }) => agent('POST', '/v1/actions', { json: { tool: 'lab.read', connector_type: 'mcp' } }),
    },
    {
      rule: 'a connector type that there is not',
      verdict: invalid('connector_type'),
      provoke: ({ agent }) =>
        agent('POST', '/v1/actions', { json: { tool: 'lab.read', mode: 'proxy', connector_type: 'rest' } }),
    },
    {
      rule: 'a tool of the agent’s own whose name is malformed',
      verdict: [404, 'invalid_request_error', 'tool_unknown', null],
      carries: 'action',
      provoke: ({ agent }) =>
        agent('POST', '/v1/actions', { json: { tool: 'lab', mode: 'proxy', connector_type: 'mcp' } }),
    },
    {
      rule: 'a second report',
      verdict: CONFLICT,
      message: /^The result of this action was reported already\./,
      provoke: async (stage) => {
        const id = await submitted(stage, { mode: 'proxy' });
        await stage.agent('POST', `/v1/actions/${id}/result`, { json: REPORT });
        return stage.agent('POST', `/v1/actions/${id}/result`, { json: { ...REPORT, status: 'failed' } });
      },
    },
    {
      rule: 'the report of a call that the service runs itself',
      verdict: CONFLICT,
      provoke: async (stage) =>
        stage.agent('POST', `/v1/actions/${await submitted(stage, {})}/result`, { json: REPORT }),
    },
    {
      rule: 'the report of an action that there is not',
      verdict: NOT_FOUND,
      provoke: ({ agent }) => agent('POST', `/v1/actions/act_${'0'.repeat(26)}/result`, { json: REPORT }),
    },
    refusedReport('a status that there is not', 'status', { status: 'done' }),
    refusedReport('a success without a result', 'result', { result: undefined }),
    refusedReport('a result and a digest', 'result_digest', { result_digest: `sha256:${'a'.repeat(64)}` }),
    refusedReport('a digest of another form', 'result_digest', { result: undefined, result_digest: 'md5:1' }),
    refusedReport('a result above 1 MiB', 'result', { result: 'x'.repeat(MIB) }),
    refusedReport('a time that is none', 'started_at', { started_at: '2026-02-30T00:00:00Z' }),
    refusedReport('a time that no deed can hold', 'started_at', { started_at: '0001-01-01T00:00:00+23:59' }),
    refusedReport('an end before the beginning', 'finished_at', { started_at: '2026-10-01T09:00:00.001Z' }),
    refusedReport('an end in the future', 'finished_at', { finished_at: '2999-10-01T09:00:00Z' }),
    refusedReport('a success with an error', 'error_code', { error_code: 'no_such_row' }),
    refusedReport('a success with the message of an error', 'error_message', { error_message: 'No such row.' }),
    refusedReport('an error code of another form', 'error_code', { status: 'failed', error_code: 'No such row' }),
    refusedReport('an error message above 280 characters', 'error_message', {
      status: 'failed',
      error_message: 'x'.repeat(281),
    }),
    {
      rule: 'a report above 1 MiB and 64 KiB',
      verdict: [413, 'invalid_request_error', 'request_too_large', null],
      provoke: (stage) => reported(stage, { ...REPORT, result: 'x'.repeat(2 * MIB) }),
    },
    {
      rule: 'cancelling what may run at the edge',
      verdict: CONFLICT,
      message: /^This action is already executing and cannot be cancelled\./,
      provoke: async (stage) => stage.agent('POST', `/v1/actions/${await submitted(stage, { mode: 'proxy' })}/cancel`),
    },
    {
      rule: 'cancelling what has ended',
      verdict: CONFLICT,
      message: /^This action has ended and cannot be cancelled\./,
      provoke: async (stage) =>
        stage.admin('POST', `/v1/actions/${await submitted(stage, { tool: 'lab.remove' })}/cancel`),
    },
    {
      rule: 'cancelling an action that there is not',
      verdict: NOT_FOUND,
      provoke: ({ agent }) => agent('POST', `/v1/actions/act_${'0'.repeat(26)}/cancel`),
    },
  ],
};
