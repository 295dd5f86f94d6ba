import { createHash } from 'node:crypto';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { isTagKnown } from '../http/entity-tag.js';
import { Route } from '../http/route.decorator.js';
import { readOpenApiDocument } from './openapi-document.js';

/** RFC 9512. */
const YAML_CONTENT_TYPE = 'application/yaml; charset=utf-8';

@Controller('api/openapi.yaml')
export class OpenApiController {
  private readonly document = readOpenApiDocument();
  private readonly etag = `"sha256:${createHash('sha256').update(this.document).digest('hex')}"`;

  /** The description of the interface. */
  @Get()
  @Route({ auth: 'public', since: '2026-10-01' })
  read(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string | undefined {
    void reply.header('ETag', this.etag).header('Cache-Control', 'no-cache');
    if (isTagKnown(known, this.etag)) {
      void reply.code(304);
      return undefined;
    }
    void reply.header('Content-Type', YAML_CONTENT_TYPE);
    return this.document;
  }
}
