/**
 * An MCP server of one tool that answers every call the same: a program of its own, as servers are, so that its work is not
 * the generator's. Prints its address.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MCP_MODERN } from '#libs/domain/kernel';
import { BENCH_TOOL } from './calls-in-turns.js';

const TOOL = {
  name: BENCH_TOOL.split('.')[1],
  description: 'Adds a note to a customer.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, text: { type: 'string' } },
    required: ['id', 'text'],
  },
};

const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': { resultType: 'complete', supportedVersions: [MCP_MODERN], capabilities: { tools: {} } },
  'tools/list': { resultType: 'complete', tools: [TOOL] },
  'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'Noted.' }] },
};

const answerTo = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const piece of request) text += String(piece);
  const { id, method } = JSON.parse(text) as { readonly id: unknown; readonly method: string };
  return JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] });
};

const server = createServer((request, response) => {
  answerTo(request).then(
    (body) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      response.writeHead(200, headers).end(body);
    },
    () => response.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`);
});
