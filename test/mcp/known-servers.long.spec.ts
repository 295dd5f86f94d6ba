import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { environmentWith } from '../support/environment.js';
import { freePort } from '../support/free-port.js';
import { ROOT, type RunningService, startService } from '../support/service.js';

/** The server of all kinds of tools that the makers of MCP publish, as its package starts it. */
const EVERYTHING = join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
const POLICY = `version: 1
default: deny
rules:
  - id: environment
    match:
      tools:
        - everything.get-env
    decision: deny
  - id: others
    match:
      tools:
        - everything.*
    decision: allow
`;
let database: TestDatabase;
let service: RunningService;
let server: ChildProcess;

const admin = async (method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await service.call(method, path, { key: service.adminKey, ...(body === undefined ? {} : { body }) });
  expect(answer.status).toBeLessThan(300);
  return answer.json;
};

const listening = async (program: ChildProcess): Promise<void> => {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    program.once('exit', () => reject(new Error(`server-everything ended: ${said}`)));
    program.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('listening on port')) resolve();
    });
  });
};

beforeAll(async () => {
  const port = await freePort();
  server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: environmentWith({ PORT: String(port) }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listening(server);
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString } });
  const config = { url: `http://127.0.0.1:${port}/mcp`, auth: { kind: 'none' } };
  await admin('POST', '/v1/connectors', { type: 'mcp_http', name: 'everything', config });
  const { id } = await admin('POST', '/v1/policies', { name: 'Known servers', source: POLICY });
  await admin('POST', `/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' });
  await admin('POST', '/v1/connectors/everything/tools/refresh');
});
afterAll(async () => {
  await service?.stop();
  await database?.drop();
  if (server === undefined || server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill();
  await ended;
});

interface Called {
  readonly isError?: unknown;
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}
interface KnownClient {
  names(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<Called>;
  close(): Promise<void>;
}

const door = (): URL => new URL(`${service.baseUrl}/mcp/everything`);
const requestInit = () => ({ headers: { Authorization: `Bearer ${service.agentKey}` } });

const sdk1 = async (): Promise<KnownClient> => {
  const client = new Client1({ name: 'sdk-1', version: '1' });
  await client.connect(new Transport1(door(), { requestInit: requestInit() }));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
};
const sdk2 = async (): Promise<KnownClient> => {
  const client = new Client2({ name: 'sdk-2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new Transport2(door(), { requestInit: requestInit() }));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
};

describe.each<[string, () => Promise<KnownClient>]>([
  ['@modelcontextprotocol/sdk 1', sdk1],
  ['@modelcontextprotocol/client 2', sdk2],
])('server-everything behind the service, called by %s', (_, connect) => {
  let client: KnownClient;
  beforeEach(async () => {
    client = await connect();
    return () => client.close();
  });

  it('lists the tools that need nothing of a client, less the denied one', async () => {
    const names = await client.names();
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'get-structured-content']));
    expect(names.at(-1)).toBe('service_await_action');
    for (const absent of ['get-env', 'trigger-sampling-request', 'trigger-elicitation-request', 'get-roots-list']) {
      expect(names).not.toContain(absent);
    }
  });

  it('gets text', async () => {
    const answer = await client.call('get-sum', { a: 2, b: 3 });
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }] });
    expect(answer._meta).toMatchObject({ 'service/status': 'executed', 'service/code': null });
  });

  it('gets a picture, and what the server notes of whom it is for', async () => {
    const answer = await client.call('get-annotated-message', { messageType: 'error', includeImage: true });
    expect(answer.content).toMatchObject([
      { type: 'text', annotations: { audience: ['user', 'assistant'], priority: 1 } },
      { type: 'image', mimeType: 'image/png', annotations: { audience: ['user'], priority: 0.5 } },
    ]);
  });

  it('gets links to resources, and a resource that is embedded', async () => {
    const links = await client.call('get-resource-links', { count: 2 });
    expect(links.content).toMatchObject([{ type: 'text' }, { type: 'resource_link' }, { type: 'resource_link' }]);
    const embedded = await client.call('get-resource-reference', { resourceType: 'Blob', resourceId: 1 });
    expect(embedded.content).toMatchObject([
      { type: 'text' },
      { type: 'resource', resource: { blob: expect.any(String) as string } },
      { type: 'text' },
    ]);
  });

  it('gets structured content that keeps to the schema of the tool', async () => {
    const answer = await client.call('get-structured-content', { location: 'Chicago' });
    expect(answer.structuredContent).toMatchObject({ temperature: 36, conditions: 'Light rain / drizzle' });
  });

  it('gets what a tool of some seconds says on a stream', async () => {
    const answer = await client.call('trigger-long-running-operation', { duration: 2, steps: 2 });
    expect(JSON.stringify(answer.content)).toContain('Long running operation completed');
  });

  it('reads what the server has against its arguments as the server says it', async () => {
    const answer = await client.call('echo');
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.stringify(answer.content)).toContain('Invalid arguments for tool echo');
    expect(answer._meta).toMatchObject({ 'service/code': 'upstream_error' });
  });

  it('is refused what the policy denies', async () => {
    const answer = await client.call('get-env');
    expect(answer).toMatchObject({ isError: true });
    expect(answer._meta).toMatchObject({ 'service/code': 'policy_denied' });
  });
});
