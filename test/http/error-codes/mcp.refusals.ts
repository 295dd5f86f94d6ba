import type { Answer } from '../../support/service.js';
import { EventStreamClient } from '../../support/event-stream-client.js';
import { OPEN_MAX } from './events.refusals.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

/** The two addresses that MCP clients call. */
export const DOORS = ['/mcp', '/mcp/lab'] as const;

type Door = (typeof DOORS)[number];

/** One message of a client of a handshake revision, with the key of the agent unless `key` is another. */
export const tell = (
  { agent }: Stage,
  door: string,
  method: string,
  { params = {}, headers = {}, key }: { params?: object; headers?: Record<string, string>; key?: string } = {},
): Promise<Answer> =>
  agent('POST', door, {
    json: { jsonrpc: '2.0', id: 1, method, params },
    headers,
    ...(key === undefined ? {} : { key }),
  });

const callOf = (door: Door): object => ({
  name: door === '/mcp' ? 'lab__read' : 'read',
  arguments: { id: 'open' },
});

const TOO_MANY: Pick<Refusal, 'verdict' | 'headers'> = {
  verdict: [429, 'rate_limit_error', 'rate_limited', null],
  headers: { 'retry-after': '5' },
};

/** As many streams as the agent may have open, and then the request. */
const beyondStreams = async (stage: Stage, ask: () => Promise<Answer>): Promise<Answer> => {
  const key = { Authorization: `Bearer ${stage.service.agentKey}` };
  const { baseUrl } = stage.service;
  const streams = await Promise.all(Array.from({ length: OPEN_MAX }, () => EventStreamClient.open(baseUrl, key)));
  const answer = await ask();
  for (const stream of streams) stream.close();
  return answer;
};

/** What keeps a message of an MCP client out before it is one (docs/mcp.md). */
const refusalsAt = (door: Door): readonly Refusal[] => [
  {
    rule: `a page of another origin that listens at ${door}`,
    verdict: [403, 'permission_error', 'csrf_failed', null],
    provoke: ({ agent }) => agent('GET', door, { headers: { Origin: 'https://evil.example' } }),
  },
  {
    rule: `a key of a header and another of _meta at ${door}`,
    verdict: [422, 'invalid_request_error', 'validation_failed', 'Idempotency-Key'],
    provoke: (stage) =>
      tell(stage, door, 'tools/call', {
        params: { ...callOf(door), _meta: { 'service/idempotency_key': 'one' } },
        headers: { 'Idempotency-Key': 'other' },
      }),
  },
  {
    rule: `one more listener at ${door} than the agent may have`,
    ...TOO_MANY,
    provoke: (stage) => beyondStreams(stage, () => stage.agent('GET', door)),
  },
  {
    rule: `one more subscription at ${door} than the agent may have`,
    ...TOO_MANY,
    provoke: (stage) => beyondStreams(stage, () => subscribe(stage, door)),
  },
];

const REVISION = '2026-07-28';

const subscribe = ({ agent }: Stage, door: Door): Promise<Answer> => {
  const method = 'subscriptions/listen';
  const protocol = 'io.modelcontextprotocol';
  const _meta = { [`${protocol}/protocolVersion`]: REVISION, [`${protocol}/clientCapabilities`]: {} };
  return agent('POST', door, {
    json: { jsonrpc: '2.0', id: 1, method, params: { notifications: { toolsListChanged: true }, _meta } },
    headers: { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method, Accept: 'application/json, text/event-stream' },
  });
};

const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];

export const MCP: RefusalGroup = {
  title: 'the door for MCP clients',
  refusals: [
    ...DOORS.flatMap(refusalsAt),
    {
      rule: 'the tools of a connector that there is not',
      verdict: NOT_FOUND,
      provoke: (stage) => tell(stage, '/mcp/nobody', 'tools/list'),
    },
    {
      rule: 'a listener at a connector that there is not',
      verdict: NOT_FOUND,
      provoke: ({ agent }) => agent('GET', '/mcp/nobody'),
    },
  ],
};
