import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError, isErrorCode } from '#libs/domain/kernel';
import { Route } from '../http/route.decorator.js';
import { errorIndexPage, errorPage, PAGE_POLICY } from './error-page.js';

/** What `error.doc_url` points at, unless SERVICE_DOCS_URL names another place (docs/api-conventions.md, Errors). */
@Controller('docs/errors')
export class ErrorPagesController {
  @Get()
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  index(@Res({ passthrough: true }) reply: FastifyReply): string {
    return asPage(reply, errorIndexPage());
  }

  @Get(':code')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  entry(@Param('code') code: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    if (!isErrorCode(code)) {
      throw new DomainError('not_found', {
        message: 'There is no error with this code. GET /docs/errors lists all of them.',
      });
    }
    return asPage(reply, errorPage(code));
  }
}

const asPage = (reply: FastifyReply, html: string): string => {
  void reply
    .header('Content-Type', 'text/html; charset=utf-8')
    .header('Content-Security-Policy', PAGE_POLICY)
    .header('Cache-Control', 'public, max-age=300');
  return html;
};
