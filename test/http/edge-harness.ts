import type { AddressInfo } from 'node:net';
import { type DynamicModule, Module, type ModuleMetadata, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import { createHttpEdge, type HttpEdge, type HttpEdgeOptions } from '../../apps/api/src/http/http-edge.js';
import { HttpEdgeModule } from '../../apps/api/src/http/http-edge.module.js';
import { NestLogger } from '../../apps/api/src/http/nest-logger.js';
import {
  type AuthenticationDemands,
  Authenticator,
  type PersonPrincipal,
  type Principal,
  SessionAuthenticator,
} from '../../apps/api/src/http/authenticator.port.js';
import { Clock, DomainError, idOf, type QuestionNumber, StoreUnavailable } from '#libs/domain/kernel';
import { IdempotencyStore } from '#libs/infra/idempotency';
import { PinoLogger } from '#libs/infra/logging';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

const idFrom = <Prefix extends 'org' | 'agt' | 'key'>(prefix: Prefix, seed: number) =>
  idOf(prefix, new Uint8Array(16).fill(seed));

export const ORG = idFrom('org', 1);
export const AGENT = idFrom('agt', 2);

/** Of the token `admin`. */
export const ADMIN_KEY = idFrom('key', 11);

const PEPPER = new Uint8Array(32).fill(7);

/** Of every agent key. */
export const JUDGED_SINCE = 7 as QuestionNumber;

const holder = { org: ORG, livemode: false, pinnedVersion: null };
const agent = (seed: number, scopes: readonly string[], name = AGENT): Principal =>
  ({ ...holder, kind: 'agent', agent: name, key: idFrom('key', seed), scopes, judgedSince: JUDGED_SINCE }) as Principal;

const SCOPES = ['actions:execute', 'actions:read', 'deeds:read'];

/** What each token of the tests stands for. The real key pipeline has tests of its own; the edge only asks it. */
const PRINCIPALS: Readonly<Record<string, Principal | DomainError | Error>> = {
  agent: agent(3, SCOPES),
  // The same agent with the key that replaced the first.
  rolled: agent(4, SCOPES),
  reader: agent(5, ['actions:read']),
  neighbour: agent(6, SCOPES, idFrom('agt', 7)),
  stranger: { ...agent(8, SCOPES, idFrom('agt', 9)), org: idFrom('org', 10) },
  admin: { ...holder, kind: 'admin_key', key: ADMIN_KEY, lineage: ADMIN_KEY, scopes: ['admin'] },
  // The same admin key, rolled.
  'rolled-admin': {
    ...holder,
    kind: 'admin_key',
    key: idFrom('key', 13),
    lineage: ADMIN_KEY,
    scopes: ['admin'],
  },
  pinned: { ...agent(12, SCOPES), pinnedVersion: '2026-10-01' },
  revoked: new DomainError('api_key_revoked'),
  expired: new DomainError('api_key_expired'),
  stopped: new DomainError('agent_stopped'),
  unjudged: new StoreUnavailable('the store does not answer'),
};

export class TokenAuthenticator extends Authenticator {
  /** Tokens that were asked about, to show that something was refused before anybody asked. */
  readonly asked: string[] = [];
  /** Tokens that were revoked since. */
  readonly revoked = new Set<string>();
  /** Tokens of agents that are remembered, and as whom. */
  readonly remembered = new Map<string, keyof typeof PRINCIPALS>();

  override async authenticate(key: string, { judgeStop, mayRemember }: AuthenticationDemands): Promise<Principal> {
    const remembered = PRINCIPALS[this.remembered.get(key) ?? ''];
    if (mayRemember && remembered && !(remembered instanceof Error)) {
      return { ...remembered, judgedSince: 'remembered' } as Principal;
    }
    this.asked.push(key);
    if (this.revoked.has(key)) throw new DomainError('api_key_revoked');
    const found = Object.hasOwn(PRINCIPALS, key) ? PRINCIPALS[key] : undefined;
    if (key === 'stopped' && !judgeStop) return PRINCIPALS['agent'] as Principal;
    if (found === undefined) throw new DomainError('invalid_api_key');
    if (found instanceof Error) throw found;
    return found;
  }
}

/** Knows the sessions that a test gives it, by the value of their cookie. */
export class CookieAuthenticator extends SessionAuthenticator {
  readonly sessions = new Map<string, PersonPrincipal>();

  override authenticate(token: string): Promise<PersonPrincipal> {
    const found = this.sessions.get(token);
    return found ? Promise.resolve(found) : Promise.reject(new DomainError('session_expired'));
  }
}

/** A clock that tests move, and stop where the real time that a test takes must not count. */
export class TestClock extends Clock {
  private aheadMs = 0;
  private stoppedAt: { readonly nowMs: number; readonly monotonicMs: number } | null = null;
  private readonly real = new SystemClock();

  override nowMs(): number {
    return (this.stoppedAt?.nowMs ?? this.real.nowMs()) + this.aheadMs;
  }

  override monotonicMs(): number {
    return (this.stoppedAt?.monotonicMs ?? this.real.monotonicMs()) + this.aheadMs;
  }

  advance(byMs: number): void {
    this.aheadMs += byMs;
  }

  stop(): void {
    // Whole milliseconds: sums of fractions would miss a limit by a rounding.
    this.stoppedAt = { nowMs: this.real.nowMs(), monotonicMs: Math.ceil(this.real.monotonicMs()) };
  }
}

export interface TestEdge {
  readonly app: NestFastifyApplication;
  readonly edge: HttpEdge;
  readonly port: number;
  readonly url: string;
  readonly clock: TestClock;
  readonly authenticator: TokenAuthenticator;
  readonly sessions: CookieAuthenticator;
  /** Every log line, parsed. */
  readonly lines: Record<string, unknown>[];
  accessLines(): Record<string, unknown>[];
  close(): Promise<void>;
}

export interface TestEdgeOptions {
  readonly controllers: readonly Type[];
  readonly providers?: readonly Provider[];
  readonly imports?: ModuleMetadata['imports'];
  readonly edge?: Partial<HttpEdgeOptions>;
  /** Runs before Nest takes the adapter. */
  readonly onAdapter?: (adapter: HttpEdge['adapter']) => void;
  /** Judges session cookies. Default: {@link CookieAuthenticator}. */
  readonly sessionAuthenticator?: SessionAuthenticator;
  /** Where idempotency keys live. Default: a server that is not there. */
  readonly connectionString?: string;
}

@Module({})
class TestModule {}

/** The whole edge in front of the given controllers, on a port of its own. */
export const startEdge = async (options: TestEdgeOptions): Promise<TestEdge> => {
  const lines: Record<string, unknown>[] = [];
  const clock = new TestClock();
  const randomness = new SystemRandomness();
  const logger = new PinoLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const edge = createHttpEdge({
    clock,
    randomness,
    logger,
    baseUrl: 'http://localhost',
    docsUrl: 'https://docs.example/ags',
    pepper: PEPPER,
    ...options.edge,
  });
  const pool = new pg.Pool({
    connectionString: options.connectionString ?? 'postgres://nobody@127.0.0.1:1/none',
    max: 8,
  });
  const authenticator = new TokenAuthenticator();
  const sessions = new CookieAuthenticator();
  const root: DynamicModule = {
    module: TestModule,
    imports: [
      HttpEdgeModule.forRoot({
        edge,
        logger,
        imports: [
          portsModule(
            authenticator,
            options.sessionAuthenticator ?? sessions,
            new IdempotencyStore(pool, clock, randomness, PEPPER),
          ),
        ],
      }),
      ...(options.imports ?? []),
    ],
    controllers: [...options.controllers],
    providers: [...(options.providers ?? [])],
  };
  options.onAdapter?.(edge.adapter);
  const app = await NestFactory.create<NestFastifyApplication>(root, edge.adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    edge,
    port,
    url: `http://127.0.0.1:${port}`,
    clock,
    authenticator,
    sessions,
    lines,
    accessLines: () => lines.filter(({ message }) => message === 'request'),
    close: async () => {
      await app.close();
      await pool.end();
    },
  };
};

@Module({})
class PortsModule {}

const portsModule = (
  authenticator: Authenticator,
  sessions: SessionAuthenticator,
  store: IdempotencyStore,
): DynamicModule => ({
  module: PortsModule,
  providers: [
    { provide: Authenticator, useValue: authenticator },
    { provide: SessionAuthenticator, useValue: sessions },
    { provide: IdempotencyStore, useValue: store },
  ],
  exports: [Authenticator, SessionAuthenticator, IdempotencyStore],
});
