import type { Socket } from 'node:net';
import { NO_METER, type Clock, type Logger, type Meter, type Randomness } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import { AccessLog } from './access-log.js';
import { ApiVersions } from './api-versions.js';
import { CursorCodec } from './cursor-codec.js';
import { trustOf } from './client-address.js';
import { Drain } from './drain.js';
import type { EdgeParts } from './edge-parts.js';
import { createEdgeServer, DEFAULT_TIMEOUTS, type HttpTimeouts } from './edge-server.js';
import { ErrorAnswers } from './error-answers.js';
import type { Exchange } from './exchange.js';
import { FailedKeyLimiter } from './failed-key-limiter.js';
import { FailureLog } from './failure-log.js';
import { answerMalformed } from './malformed-requests.js';
import { answerUnrouted, judgeArrival } from './request-hooks.js';
import { RouteTable } from './route-table.js';
import { Site } from './site.js';

export interface HttpEdgeOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly meter?: Meter;
  /** {base_url}: an https one adds Strict-Transport-Security. */
  readonly baseUrl: string;
  /** {docs_url}, without a slash at its end. Null: the pages that the service itself serves, below {base_url}. */
  readonly docsUrl: string | null;
  /** The deployment's secret. Keys for cursors are derived from it. */
  readonly pepper: Uint8Array;
  /** Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed. Default: none. */
  readonly trustedProxies?: readonly string[];
  readonly versions?: ApiVersions;
  readonly timeouts?: Partial<HttpTimeouts>;
}

/** Two years (RFC 6797). The service has one host, so the header says nothing about subdomains. */
const STRICT_TRANSPORT_SECURITY = 'max-age=63072000';

/** What the edge is made of, shared by the HTTP server below Nest and by the guard, interceptor and filter within it. */
export class HttpEdge implements EdgeParts {
  readonly sources: { readonly clock: Clock; readonly randomness: Randomness };
  readonly versions: ApiVersions;
  readonly routes = new RouteTable();
  readonly drain = new Drain();
  readonly answers: ErrorAnswers;
  readonly accessLog: AccessLog;
  readonly meter: Meter;
  readonly failures: FailureLog;
  readonly unaccepted: RepeatedFault;
  readonly limiter: FailedKeyLimiter;
  readonly cursors: CursorCodec;
  readonly site: Site;
  readonly exchangeOn = new WeakMap<Socket, Exchange>();
  /** Pass it to NestFactory.create, with `bodyParser: false`. */
  readonly adapter: FastifyAdapter;
  private readonly standingHeaders: Readonly<Record<string, string>>;

  constructor(options: HttpEdgeOptions) {
    this.sources = { clock: options.clock, randomness: options.randomness };
    this.versions = options.versions ?? new ApiVersions();
    this.site = new Site(options.baseUrl);
    this.answers = new ErrorAnswers(
      () => options.docsUrl ?? `${this.site.baseUrl}/docs`,
      this.routes,
      () => this.site.baseUrl,
    );
    this.accessLog = new AccessLog(options.logger);
    this.meter = options.meter ?? NO_METER;
    this.failures = new FailureLog(options.logger);
    this.unaccepted = new RepeatedFault((fault) => options.logger.warn('a connection could not be accepted', fault));
    this.limiter = new FailedKeyLimiter(options.clock);
    this.cursors = new CursorCodec(options.pepper);
    this.standingHeaders = {
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      ...(options.baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': STRICT_TRANSPORT_SECURITY } : {}),
    };
    this.adapter = createAdapter(this, options);
  }

  /** {base_url} as it turned out: a port that was left to the system is known once the server listens. */
  isServedAt(baseUrl: string): void {
    this.site.isServedAt(baseUrl);
  }

  headersFor(requestId: string, apiVersion: string): Readonly<Record<string, string>> {
    return { 'Service-Request-Id': requestId, 'Service-Version': apiVersion, ...this.standingHeaders };
  }
}

const createAdapter = (edge: HttpEdge, options: HttpEdgeOptions): FastifyAdapter => {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const trustedProxies = options.trustedProxies ?? [];
  const settings: FastifyServerOptions = {
    serverFactory: (handler) => createEdgeServer(edge, handler, timeouts),
    clientErrorHandler: (error, socket) => answerMalformed(edge, error, socket),
    frameworkErrors: (_error, request, reply) => answerUnrouted(edge, request, reply),
    trustProxy: trustedProxies.length === 0 ? false : trustOf(trustedProxies),
    routerOptions: {
      // Bounded by the header limit; the router's own answer to a long parameter would have no envelope.
      maxParamLength: 65_536,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      caseSensitive: true,
    },
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    logger: false,
  };
  const adapter = new FastifyAdapter(settings);
  const fastify = adapter.getInstance();
  // No parser reads a body: it stays in the socket until the guard has let the request through.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  // A DELETE with a body is refused on arrival. Without a body its Content-Type describes nothing, like that of a GET.
  fastify.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true });
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) edge.routes.noteServed(name, url);
  });
  fastify.addHook('onRequest', (request, reply, done) => judgeArrival(edge, request, reply, done));
  return adapter;
};

export const createHttpEdge = (options: HttpEdgeOptions): HttpEdge => new HttpEdge(options);
