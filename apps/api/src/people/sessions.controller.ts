import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { IsBoolean } from 'class-validator';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError, parseId } from '#libs/domain/kernel';
import { PersonSessions } from '#libs/domain/people';
import { SESSION } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import { csrfTokenOf } from '../http/csrf.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { Site } from '../http/site.js';
import { pageOfAll } from '../lists/page-of-all.js';
import { MeAnswers } from './me-answers.js';
import { sessionView } from './member.view.js';
import { placeOf, SessionAnswers } from './session-answers.js';
import { SwitchOrgBody } from './sign-in.dto.js';

class LogoutBody {
  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  everywhere?: boolean;
}

/** What a person does with the sessions that are the person's own. */
@Controller('v1')
export class SessionsController {
  constructor(
    private readonly sessions: PersonSessions,
    private readonly answers: SessionAnswers,
    private readonly me: MeAnswers,
    private readonly cursors: CursorCodec,
    private readonly site: Site,
  ) {}

  @Get('me')
  @Route(SESSION)
  async get(@RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { row } = exchange.person.session;
    return this.me.me(row, csrfTokenOf(exchange, row.csrfHash, this.site));
  }

  /** A new session, new secrets; the one before is over. */
  @Post('auth/switch-org')
  @HttpCode(200)
  @Route({ ...SESSION, idempotency: 'none' })
  async switchOrg(
    @Body() body: SwitchOrgBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const org = parseId('org', body.org);
    if (!org) throw new DomainError('not_found', { param: 'org' });
    const { session } = exchange.person;
    return this.answers.opened(
      await this.sessions.switchTo(session, org, placeOf(exchange), exchange.requestId),
      reply,
    );
  }

  @Post('auth/logout')
  @HttpCode(204)
  @Route({ ...SESSION, idempotency: 'none' })
  async logout(
    @Body() { everywhere }: LogoutBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { session, user } = exchange.person;
    const actor = { type: 'user', id: user } as const;
    if (everywhere === true) await this.sessions.endAll(user, 'everywhere', actor, exchange.requestId);
    await this.sessions.end(session.row, everywhere === true ? 'everywhere' : 'signed_out', actor, exchange.requestId);
    this.answers.closed(reply);
  }

  /** In every organization, newest first. */
  @Get('sessions')
  @Route(SESSION)
  async list(@Query() query: ListQuery, @RequestContext() exchange: Exchange): Promise<ListEnvelope<JsonObject>> {
    const { user, session } = exchange.person;
    const rows = await this.sessions.ofUser(user);
    return pageOfAll(rows, query, this.cursors.forList(exchange, query), {
      item: (row) => sessionView(row, session.row.session),
      id: (row) => row.session,
    });
  }

  @Delete('sessions/:id')
  @Route(SESSION)
  async end(
    @Param('id') text: string,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const id = parseId('ses', text);
    if (!id) throw new DomainError('not_found');
    const { user, session } = exchange.person;
    const { session: ended } = await this.sessions.endOwn(user, id, exchange.requestId);
    if (ended === session.row.session) this.answers.closed(reply);
    return { object: 'session', id: ended, deleted: true };
  }
}
