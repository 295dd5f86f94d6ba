// What the conformance suite of MCP needs to look at a running service (docs/mcp-conformance.md): a server with the tools
// that it calls, a connector for that server, and a door that adds the agent's key, because the suite can send none.
import { randomUUID } from 'node:crypto';
import { createServer, request as ask } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

const { SERVICE_URL, ADMIN_KEY, AGENT_KEY } = process.env;
if (!SERVICE_URL || !ADMIN_KEY || !AGENT_KEY) {
  process.stderr.write('Set SERVICE_URL, ADMIN_KEY and AGENT_KEY: those of a service for trials.\n');
  process.exit(2);
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';
const text = (said) => ({ type: 'text', text: said });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });

/** By name, what each answers. The suite says in its own descriptions of scenarios what that has to be. */
const ANSWERS = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_progress: async ({ sendNotification, _meta }) => {
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: _meta?.progressToken ?? '', progress, total: 100 };
      if (_meta?.progressToken !== undefined) await sendNotification({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return [text('done')];
  },
  test_tool_with_logging: async ({ sendNotification }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return [text('done')];
  },
  test_logging_tool: () => [text('nothing is logged')],
  // Calls that last longer than a second are tasks here, to a client that declares the extension.
  greet: (_, { name }) => [text(`Hello, ${name}!`)],
  slow_compute: async (_, { seconds }) => {
    await sleep(seconds * 1_000);
    return [text(`computed for ${seconds} s`)];
  },
  // Asks nobody: elicitation is not served. What else is looked at on the way to it is.
  confirm_delete: () => [text('nothing was deleted')],
  failing_job: async () => {
    await sleep(1_500);
    throw new Error('This job always fails');
  },
  protocol_error_job: async () => {
    await sleep(1_500);
    throw new McpError(ErrorCode.InternalError, 'This job always panics');
  },
  json_schema_2020_12_tool: () => [text('taken')],
};

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const tools = Object.keys(ANSWERS).map((name) => ({
  name,
  description: 'A tool that the conformance suite calls.',
  inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA_2020_12 : { type: 'object', properties: {} },
}));

const answered = async ({ name, arguments: args = {} }, beside) => {
  try {
    return { content: await ANSWERS[name](beside, args) };
  } catch (error) {
    if (error instanceof McpError) throw error;
    return { content: [text(error.message)], isError: true };
  }
};

const upstream = createServer(async (request, response) => {
  const server = new Server({ name: 'suite', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, beside) => answered(params, beside));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
});

/** All that the suite sends, with the key added. It stands for the service, so its own origin becomes the service's. */
const door = createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${AGENT_KEY}` };
  const { host, origin } = new URL(SERVICE_URL);
  if (headers.origin === doorUrl) Object.assign(headers, { host, origin });
  const sent = ask(new URL(request.url ?? '/', SERVICE_URL), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  request.pipe(sent);
});

const addressOf = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`));
  });

const api = async (method, path, body) => {
  const headers = {
    Authorization: `Bearer ${ADMIN_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
  const answer = await fetch(new URL(path, SERVICE_URL), { method, headers, body: JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(said)}`);
  return said;
};

const doorUrl = await addressOf(door);
const name = `suite${Date.now()}`;
const config = { url: `${await addressOf(upstream)}/mcp`, auth: { kind: 'none' }, timeout_ms: 90_000 };
await api('POST', '/v1/connectors', { type: 'mcp_http', name, config });
const source = `version: 1
default: deny
rules:
  - id: suite
    match:
      tools:
        - ${name}.*
    decision: allow
`;
const { id } = await api('POST', '/v1/policies', { name, source });
await api('POST', `/v1/policies/${id}/versions/1/activate`, { mode: 'enforce' });
process.stdout.write(`The suite's --url: ${doorUrl}/mcp/${name}\nCtrl-C ends this.\n`);
