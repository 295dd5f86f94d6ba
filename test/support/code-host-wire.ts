import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { CodeHostRepository, type WireAnswer } from './code-host-repository.js';

const CANARY = createHash('sha256').update('code-host-canary').digest('hex');
/** A fine-grained token of the wire. */
export const WIRE_TOKEN = `github_pat_${CANARY.slice(0, 22)}_${CANARY.slice(0, 59)}`;

/** One request as it arrived. */
export interface WireRequest {
  readonly method: string;
  /** Without what an Enterprise Server has before it. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What happens to a request instead of what the host would do, or after it. Null: the host answers. */
export type Quirk = (request: WireRequest) => WireAnswer | 'drop' | 'answer_lost' | null;

export const refusal = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): WireAnswer => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  headers,
});

/** What the token lacks, as the host names it: the first part of the path below the repository. */
type Permission = 'issues' | 'contents' | 'pulls' | 'git' | 'branches';

/**
 * A GitHub of the tests, as an Enterprise Server: it keeps repositories with their branches, files, issues, comments and pull
 * requests, and speaks the real one's format. What it holds is the oracle: what is written here was written.
 */
export class CodeHostWire {
  readonly requests: WireRequest[] = [];
  readonly repositories = new Map<string, CodeHostRepository>();
  /** By old name, in lower case: what is at another one now. */
  readonly renamed = new Map<string, string>();
  readonly denied = new Set<Permission>();
  /** Asked for each request, in the place of the one before. */
  quirk: Quirk = () => null;
  token = WIRE_TOKEN;
  /** Headers of every answer beside the usual ones. */
  headers: Readonly<Record<string, string>> = {};

  private constructor(private readonly server: Server) {}

  static async start(): Promise<CodeHostWire> {
    const server = createServer();
    const wire = new CodeHostWire(server);
    wire.add('acme/shop');
    server.on('request', (request, response) => {
      // Half a request, of a caller that is gone.
      wire.serve(request, response).catch(() => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return wire;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What every connector of the tests is about. */
  get shop(): CodeHostRepository {
    return this.repositories.get('acme/shop') as CodeHostRepository;
  }

  add(name: string): CodeHostRepository {
    const repository = new CodeHostRepository(name, 'https://github.example.com/api/v3');
    this.repositories.set(name.toLowerCase(), repository);
    return repository;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? '/', this.baseUrl);
    const request: WireRequest = {
      ...{ method: incoming.method ?? '', path: url.pathname.replace(/^\/api\/v3/, ''), query: url.searchParams },
      ...{ headers: incoming.headers, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) },
    };
    this.requests.push(request);
    const quirk = this.quirk(request);
    if (quirk === 'drop') return void response.destroy();
    const isServed = quirk === null || quirk === 'answer_lost';
    const answer = isServed ? this.answerOf(request, url.pathname) : quirk;
    if (quirk === 'answer_lost') return void response.destroy();
    const isJson = typeof answer.body !== 'string';
    const type =
      answer.body === undefined ? {} : { 'Content-Type': isJson ? 'application/json; charset=utf-8' : 'text/html' };
    const usual = { 'X-GitHub-Request-Id': randomBytes(8).toString('hex'), 'X-RateLimit-Remaining': '4999' };
    response.writeHead(answer.status, { ...usual, ...type, ...this.headers, ...answer.headers });
    response.end(answer.body === undefined ? '' : isJson ? JSON.stringify(answer.body) : answer.body);
  }

  private answerOf(request: WireRequest, whole: string): WireAnswer {
    const { headers, path } = request;
    if (headers['user-agent'] === undefined) return refusal(403, 'Request forbidden by administrative rules.');
    if (headers.authorization !== `Bearer ${this.token}`) return refusal(401, 'Bad credentials');
    if (headers['x-github-api-version'] !== '2022-11-28') return refusal(400, 'Unsupported API version');
    if (!whole.startsWith('/api/v3/')) return { status: 200, body: '<html>The pages of the server</html>' };
    if (path === '/user') return { status: 200, body: { login: 'octocat', id: 1, type: 'User' } };
    const [, root, owner, name, ...rest] = path.split('/');
    if (root !== 'repos') return refusal(404, 'Not Found');
    return this.answerAt(request, `${owner}/${name}`.toLowerCase(), rest);
  }

  private answerAt(request: WireRequest, name: string, rest: readonly string[]): WireAnswer {
    if (this.renamed.has(name)) {
      // Which of the two says whether the method stays.
      const status = request.method === 'GET' ? 301 : 307;
      const location = `${this.baseUrl}/api/v3/repositories/1${rest.map((part) => `/${part}`).join('')}`;
      return refusal(status, status === 301 ? 'Moved Permanently' : 'Temporary Redirect', { Location: location });
    }
    const repository = this.repositories.get(name);
    if (repository === undefined) return refusal(404, 'Not Found');
    const [kind = ''] = rest;
    if (this.denied.has(kind as Permission)) {
      const needed = { 'X-Accepted-GitHub-Permissions': `${kind}=${request.method === 'GET' ? 'read' : 'write'}` };
      return refusal(403, 'Resource not accessible by personal access token', needed);
    }
    return (
      repository.answer(request.method, rest.map(decodeURIComponent), request.query, request.body) ??
      refusal(404, 'Not Found')
    );
  }
}
