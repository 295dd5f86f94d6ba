import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#libs/domain/kernel';
import { isTagKnown } from '../../http/entity-tag.js';
import { Route } from '../../http/route.decorator.js';
import { PAGE_HEADERS } from './page-headers.js';
import { readStaticFile } from './static-files.js';

const HTML = 'text/html; charset=utf-8';

/** By the name in the address: what is not among them is not there, however it is spelled. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  'auth.css': 'text/css; charset=utf-8',
  'auth.js': 'text/javascript; charset=utf-8',
  'approve.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml; charset=utf-8',
};

/**
 * The pages on which people sign in (document 2, Endpoints) and decide an approval by the link of a mail. They are the same for everybody and use nothing: a mail
 * scanner that follows a link gets this text, and its token, which stands in the fragment, never reaches the server.
 */
@Controller()
export class SignInPagesController {
  private readonly loginPage = readStaticFile('login.html', HTML);
  private readonly confirmPage = readStaticFile('confirm.html', HTML);
  private readonly approvePage = readStaticFile('approve.html', HTML);
  private readonly assets = new Map(
    Object.entries(ASSET_TYPES).map(([name, contentType]) => [name, readStaticFile(name, contentType)]),
  );

  @Get('login')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  login(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.headers(PAGE_HEADERS).header('Content-Type', HTML);
    return this.loginPage.text;
  }

  @Get('auth/confirm')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  confirm(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.headers(PAGE_HEADERS).header('Content-Type', HTML);
    return this.confirmPage.text;
  }

  @Get('auth/approve')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  approve(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.headers(PAGE_HEADERS).header('Content-Type', HTML);
    return this.approvePage.text;
  }

  @Get('auth/assets/:file')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  asset(
    @Param('file') name: string,
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string | undefined {
    const file = this.assets.get(name);
    if (file === undefined) {
      throw new DomainError('not_found', { message: 'There is no such file. GET /login is the page to sign in on.' });
    }
    // Asked for each time, so that a page never runs the script of another version.
    void reply.headers(PAGE_HEADERS).header('ETag', file.etag).header('Cache-Control', 'no-cache');
    if (isTagKnown(known, file.etag)) {
      void reply.code(304);
      return undefined;
    }
    void reply.header('Content-Type', file.contentType);
    return file.text;
  }
}
