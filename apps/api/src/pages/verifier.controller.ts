import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { packageRoot } from '#libs/infra/runtime';
import { isTagKnown } from '../http/entity-tag.js';
import { Route } from '../http/route.decorator.js';

/**
 * The policy itself stands in the page, which a reader saves and opens from a disk, and names the hash of its script. What a page
 * cannot say of itself is said here.
 */
const HEADERS = {
  'Content-Security-Policy': "frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
} as const;

/** GET /verify.html: the page that checks an export bundle in a browser, without a network (docs/evidence.md). */
@Controller()
export class VerifierController {
  /** What the build made of apps/verifier. Read once, at the start: a build without it ends it. */
  private readonly page = readFileSync(join(packageRoot(), 'dist', 'verify.html'));
  private readonly etag = `"sha256:${createHash('sha256').update(this.page).digest('hex')}"`;

  @Get('verify.html')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  get(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer | undefined {
    void reply.headers(HEADERS).header('ETag', this.etag);
    if (!isTagKnown(known, this.etag)) return this.page;
    void reply.code(304);
    return undefined;
  }
}
