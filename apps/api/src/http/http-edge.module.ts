import { Logger } from '#libs/domain/kernel';
import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { AccessGuard } from './access.guard.js';
import { ApiVersions } from './api-versions.js';
import { CursorCodec } from './cursor-codec.js';
import { Drain } from './drain.js';
import { ErrorAnswers } from './error-answers.js';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';
import { FailedKeyLimiter } from './failed-key-limiter.js';
import { FailureLog } from './failure-log.js';
import { HandlingInterceptor } from './handling.interceptor.js';
import type { HttpEdge } from './http-edge.js';
import { IdempotentAnswers } from './idempotent-answers.js';
import { RouteExplorer } from './route-explorer.js';
import { RouteTable } from './route-table.js';
import { Site } from './site.js';

export interface HttpEdgeModuleOptions {
  readonly edge: HttpEdge;
  readonly logger: Logger;
  /** Modules that export an Authenticator, a SessionAuthenticator and an IdempotencyStore, unless global ones do. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

/** The edge within Nest: guard, interceptor, filter, and the check of every route at start-up. */
@Module({})
export class HttpEdgeModule {
  static forRoot({ edge, logger, imports = [] }: HttpEdgeModuleOptions): DynamicModule {
    const shared: Provider[] = [
      { provide: RouteTable, useValue: edge.routes },
      { provide: ApiVersions, useValue: edge.versions },
      { provide: CursorCodec, useValue: edge.cursors },
      { provide: Drain, useValue: edge.drain },
      { provide: ErrorAnswers, useValue: edge.answers },
      { provide: FailureLog, useValue: edge.failures },
      { provide: FailedKeyLimiter, useValue: edge.limiter },
      { provide: Site, useValue: edge.site },
    ];
    return {
      module: HttpEdgeModule,
      global: true,
      imports: [DiscoveryModule, ...imports],
      providers: [
        ...shared,
        { provide: Logger, useValue: logger },
        RouteExplorer,
        { provide: APP_GUARD, useClass: AccessGuard },
        IdempotentAnswers,
        { provide: APP_INTERCEPTOR, useClass: HandlingInterceptor },
        { provide: APP_FILTER, useClass: ErrorEnvelopeFilter },
      ],
      exports: shared,
    };
  }
}
