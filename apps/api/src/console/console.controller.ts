import { Controller, Get, Headers, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#libs/domain/kernel';
import { isTagKnown } from '../http/entity-tag.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { codingFor, type ConsoleFiles, type ConsolePage } from './console-files.js';
import { CONSOLE_HEADERS } from './console-headers.js';
import { isConsolePage } from './console-paths.js';
import { HTML_CONTENT_TYPE } from './page-answers.js';

export const CONSOLE_FILES = 'APP_CONSOLE_FILES';
export const SHOWS_KIT = 'APP_SHOWS_KIT';

const since = '2026-10-01';
const PAGE: RouteOptions = { auth: 'session', role: 'viewer', since, unversioned: true, page: true };
const YEAR = 'public, max-age=31536000, immutable';

/** The Console (rule CONSOLE-1): one page, whose script reads the address, and what it loads. */
@Controller()
export class ConsoleController {
  constructor(
    @Inject(CONSOLE_FILES) private readonly files: ConsoleFiles,
    @Inject(SHOWS_KIT) private readonly showsKit: boolean,
  ) {}

  @Get()
  @Route({ auth: 'public', since, unversioned: true })
  root(@Res({ passthrough: true }) reply: FastifyReply): undefined {
    void reply.code(302).headers(CONSOLE_HEADERS).header('Location', '/app');
    return undefined;
  }

  @Get('app')
  @Route(PAGE)
  overview(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer | undefined {
    return asPage(reply, this.files.index, known);
  }

  @Get('app/:screen')
  @Route({ ...PAGE, has: isConsolePage })
  screen(
    @Param('screen') screen: string,
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer | undefined {
    if (screen !== '_kit') return asPage(reply, this.files.index, known);
    if (!this.showsKit) throw new DomainError('not_found');
    return asPage(reply, this.files.kit, known);
  }

  @Get('app/:screen/:id')
  @Route({ ...PAGE, has: isConsolePage })
  detail(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer | undefined {
    return asPage(reply, this.files.index, known);
  }

  @Get('app/assets/:file')
  @Route({ auth: 'public', since, unversioned: true, page: true })
  asset(
    @Param('file') name: string,
    @Headers('accept-encoding') accepted: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer {
    const file = this.files.assets.get(name);
    if (file === undefined) throw new DomainError('not_found');
    const coding = codingFor(accepted);
    void reply
      .headers(CONSOLE_HEADERS)
      .header('Content-Type', file.contentType)
      .header('Cache-Control', YEAR)
      .header('Vary', 'Accept-Encoding');
    if (coding === null) return file.bytes;
    void reply.header('Content-Encoding', coding);
    return file[coding];
  }
}

/** Kept, and asked for again each time: after a deployment the next load has the new one. */
const asPage = (reply: FastifyReply, page: ConsolePage, known: string | undefined): Buffer | undefined => {
  void reply.headers(CONSOLE_HEADERS).header('ETag', page.etag).header('Cache-Control', 'no-cache');
  if (isTagKnown(known, page.etag)) {
    void reply.code(304);
    return undefined;
  }
  void reply.header('Content-Type', HTML_CONTENT_TYPE);
  return page.bytes;
};
