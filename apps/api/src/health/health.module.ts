import { type DynamicModule, Module } from '@nestjs/common';
import type { Clock, Logger } from '#libs/domain/kernel';
import { BuildFacts, readBuildFacts } from '#libs/infra/runtime';
import { Drain } from '../http/drain.js';
import type { HealthCheck } from './health-check.js';
import { HealthController } from './health.controller.js';
import { Health } from './health.js';
import { PublishedDocs, VersionController } from './version.controller.js';

export interface HealthModuleOptions {
  readonly checks: readonly HealthCheck[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: read from the package. */
  readonly build?: BuildFacts;
  /** Without a slash at its end. Default: nobody has said where. */
  readonly docsUrl?: string | null;
}

/** GET /v1/health and GET /v1/version. */
@Module({})
export class HealthModule {
  static forRoot({ checks, clock, logger, build, docsUrl = null }: HealthModuleOptions): DynamicModule {
    return {
      module: HealthModule,
      controllers: [HealthController, VersionController],
      providers: [
        { provide: Health, inject: [Drain], useFactory: (drain: Drain) => new Health(checks, drain, clock, logger) },
        { provide: BuildFacts, useValue: build ?? readBuildFacts() },
        { provide: PublishedDocs, useValue: new PublishedDocs(docsUrl) },
      ],
    };
  }
}
