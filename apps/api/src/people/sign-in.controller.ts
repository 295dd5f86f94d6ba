import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError, timestampOf } from '#libs/domain/kernel';
import { CODE_DIGITS, requireMailAddress, SIGN_IN_MS, SignIn, type SignedIn } from '#libs/domain/people';
import type { Exchange } from '../http/exchange.js';
import { networkOf } from '../http/failed-key-limiter.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { readCookie, setCookie } from '../http/session-cookies.js';
import { Site } from '../http/site.js';
import { nextPath } from './next-path.js';
import { placeOf, SessionAnswers } from './session-answers.js';
import { CallbackBody, LoginBody, PreviewBody } from './sign-in.dto.js';
import { SignInLimits } from './sign-in-limits.js';

/** Before anybody is signed in; only pages of this service may send them. */
const SIGN_IN = {
  auth: 'public',
  sameOrigin: true,
  since: '2026-10-01',
  maxBodyBytes: 4_096,
} as const satisfies RouteOptions;

/** Where who asked for no page begins. */
const CONSOLE = '/app';

/** Signing in by a mail: ask for it, look at what its link would do, use link or code (rule PEOPLE-4). */
@Controller('v1/auth')
export class SignInController {
  constructor(
    private readonly signIn: SignIn,
    private readonly limits: SignInLimits,
    private readonly answers: SessionAnswers,
    private readonly site: Site,
  ) {}

  /** The same answer for every well-formed address, after the same work. */
  @Post('login')
  @HttpCode(202)
  @Route(SIGN_IN)
  async login(
    @Body() { email, next }: LoginBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const address = requireMailAddress(email);
    this.limits.admitRequest(exchange.ip, address);
    const by = {
      requestId: exchange.requestId,
      network: networkOf(exchange.ip),
      browser: readCookie(exchange, 'login', this.site),
    };
    const browser = await this.signIn.request(address, nextPath(next), by);
    const seconds = SIGN_IN_MS / 1000;
    void reply.header('Set-Cookie', setCookie('login', browser, seconds, this.site));
    return { object: 'login_request', expires_in_s: seconds, code_digits: CODE_DIGITS };
  }

  /** Uses nothing. */
  @Post('preview')
  @HttpCode(200)
  @Route(SIGN_IN)
  async preview(@Body() { token }: PreviewBody, @RequestContext() { ip }: Exchange): Promise<JsonObject> {
    const preview = await this.limits.counted(ip, () => this.signIn.preview(token));
    const { purpose, email, organization, role, inviter, expiresAtMs } = preview;
    return {
      object: 'login_preview',
      purpose,
      email,
      org: organization === null ? null : { id: organization.org, name: organization.name },
      role,
      invited_by: inviter && { ...inviter },
      expires_at: timestampOf(expiresAtMs),
    };
  }

  @Post('callback')
  @HttpCode(200)
  @Route(SIGN_IN)
  async callback(
    @Body() body: CallbackBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const use = this.useOf(body, exchange);
    const { opened, next } = await this.limits.counted(exchange.ip, use);
    return { ...(await this.answers.opened(opened, reply)), next: next ?? CONSOLE };
  }

  private useOf({ token, email, code }: CallbackBody, exchange: Exchange): () => Promise<SignedIn> {
    const request = { place: placeOf(exchange), requestId: exchange.requestId };
    if (token !== undefined && email === undefined && code === undefined) {
      return () => this.signIn.byToken(token, request);
    }
    if (token === undefined && email !== undefined && code !== undefined) {
      return () => this.signIn.byCode(email, code, readCookie(exchange, 'login', this.site), request);
    }
    const param = token === undefined ? (email === undefined ? 'token' : 'code') : 'token';
    throw new DomainError('validation_failed', {
      param,
      message: 'Send either the token of a link, or the email and the code of its mail.',
    });
  }
}
