import { Controller, Get } from '@nestjs/common';
import { BuildFacts } from '#libs/infra/runtime';
import { ApiVersions } from '../http/api-versions.js';
import { Route } from '../http/route.decorator.js';

/** Document 1, version; `node` stands in the place of the field that named another runtime (specification, README). */
interface VersionReport {
  readonly object: 'version';
  readonly version: string;
  readonly commit: string;
  readonly built_at: string | null;
  readonly node: string;
  readonly api_versions: readonly string[];
  readonly default_api_version: string;
}

@Controller('v1/version')
export class VersionController {
  constructor(
    private readonly build: BuildFacts,
    private readonly versions: ApiVersions,
  ) {}

  @Get()
  @Route({ auth: 'public', since: '2026-10-01' })
  read(): VersionReport {
    const { version, commit, builtAt } = this.build;
    return {
      object: 'version',
      version,
      commit,
      built_at: builtAt,
      node: process.version,
      api_versions: this.versions.served,
      default_api_version: this.versions.latest,
    };
  }
}
