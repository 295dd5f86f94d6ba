import { Controller, Get } from '@nestjs/common';
import { BuildFacts } from '#libs/infra/runtime';
import { ApiVersions } from '../http/api-versions.js';
import { Route } from '../http/route.decorator.js';

/** What GET /v1/version answers. `node` is the version of Node.js that the service runs on. */
interface VersionReport {
  readonly object: 'version';
  readonly version: string;
  readonly commit: string;
  readonly built_at: string | null;
  readonly node: string;
  readonly api_versions: readonly string[];
  readonly default_api_version: string;
  /** Where the documentation is published, without a slash at its end; null where nobody said (SERVICE_DOCS_URL). */
  readonly docs_url: string | null;
}

/** What is known of the documentation of this service. */
export class PublishedDocs {
  constructor(readonly url: string | null) {}
}

@Controller('v1/version')
export class VersionController {
  constructor(
    private readonly build: BuildFacts,
    private readonly versions: ApiVersions,
    private readonly docs: PublishedDocs,
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
      docs_url: this.docs.url,
    };
  }
}
