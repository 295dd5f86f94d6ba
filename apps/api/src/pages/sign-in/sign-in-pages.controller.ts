import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#libs/domain/kernel';
import { isTagKnown } from '../../http/entity-tag.js';
import { Route } from '../../http/route.decorator.js';
import { PAGE_HEADERS } from './page-headers.js';
import { SIGN_IN_PAGES } from './sign-in-page.js';
import { readStaticFile } from './static-files.js';

const HTML = 'text/html; charset=utf-8';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The compiler copies nothing but code, so sources, bundle and image read the files of the repository. */
const FOLDER = 'apps/api/src/pages/sign-in/files';

/** By the name in the address: what is not among them is not there, however it is spelled. The tokens are the Console's own file. */
const ASSETS = [
  ['tokens.css', 'apps/console/src/design/tokens.css', CSS],
  ['auth.css', `${FOLDER}/auth.css`, CSS],
  ['auth.js', `${FOLDER}/auth.js`, SCRIPT],
  ['page.js', `${FOLDER}/page.js`, SCRIPT],
  ['passkey.js', `${FOLDER}/passkey.js`, SCRIPT],
  ['approve.js', `${FOLDER}/approve.js`, SCRIPT],
  ['about.js', `${FOLDER}/about.js`, SCRIPT],
  ['signed-out.js', `${FOLDER}/signed-out.js`, SCRIPT],
  ['reading.js', `${FOLDER}/reading.js`, SCRIPT],
  ['icon.svg', `${FOLDER}/icon.svg`, 'image/svg+xml; charset=utf-8'],
] as const;

/**
 * The pages on which people sign in (rule PEOPLE-4) and decide an approval by the link of a mail. They are the same for
 * everybody and use nothing: a mail scanner that follows a link gets this text, and its token, which stands in the
 * fragment, never reaches the server.
 */
@Controller()
export class SignInPagesController {
  private readonly assets = new Map(ASSETS.map(([name, path, type]) => [name as string, readStaticFile(path, type)]));

  @Get('login')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  login(@Res({ passthrough: true }) reply: FastifyReply): string {
    return asPage(reply, 'login');
  }

  @Get('auth/confirm')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  confirm(@Res({ passthrough: true }) reply: FastifyReply): string {
    return asPage(reply, 'confirm');
  }

  @Get('auth/approve')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  approve(@Res({ passthrough: true }) reply: FastifyReply): string {
    return asPage(reply, 'approve');
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

const asPage = (reply: FastifyReply, name: keyof typeof SIGN_IN_PAGES): string => {
  void reply.headers(PAGE_HEADERS).header('Content-Type', HTML);
  return SIGN_IN_PAGES[name];
};
