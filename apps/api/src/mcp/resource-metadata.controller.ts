import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { isConnectorName } from '#libs/domain/connectors';
import { PublishedDocs } from '../health/version.controller.js';
import { RESOURCE_METADATA_PATH } from '../http/error-answers.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { Site } from '../http/site.js';

const METADATA = { auth: 'public', since: '2026-10-01', unversioned: true } as const satisfies RouteOptions;

/** What a client of the door reads before it has a key (RFC 9728, section 3). */
@Controller()
export class ResourceMetadataController {
  constructor(
    private readonly site: Site,
    private readonly docs: PublishedDocs,
  ) {}

  @Get(RESOURCE_METADATA_PATH)
  @Route(METADATA)
  root(@Res({ passthrough: true }) reply: FastifyReply): JsonObject {
    return this.metadata('/mcp', reply);
  }

  @Get(`${RESOURCE_METADATA_PATH}/mcp`)
  @Route(METADATA)
  all(@Res({ passthrough: true }) reply: FastifyReply): JsonObject {
    return this.metadata('/mcp', reply);
  }

  /** The same for every name that a connector could have: whether it has one is nothing that a stranger is told. */
  @Get(`${RESOURCE_METADATA_PATH}/mcp/:name`)
  @Route({ ...METADATA, has: ({ name = '' }) => isConnectorName(name) })
  one(@Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): JsonObject {
    return this.metadata(`/mcp/${name}`, reply);
  }

  private metadata(path: string, reply: FastifyReply): JsonObject {
    // Clients in a browser read it, and it says nothing of anybody.
    reply.header('Access-Control-Allow-Origin', '*');
    const { baseUrl } = this.site;
    return {
      resource: `${baseUrl}${path}`,
      bearer_methods_supported: ['header'],
      scopes_supported: ['actions:execute'],
      resource_name: 'Agent Governance Service',
      ...(this.docs.url === null ? {} : { resource_documentation: `${this.docs.url}/mcp` }),
    };
  }
}
