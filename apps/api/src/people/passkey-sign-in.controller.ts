import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { PASSKEY_CHALLENGE_MS, PasskeySignIn } from '#libs/domain/people';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { readCookie, setCookie } from '../http/session-cookies.js';
import { Site } from '../http/site.js';
import { nextPath } from './next-path.js';
import { assertionAnswerOf, VerifyPasskeyBody } from './passkey.dto.js';
import { placeOf, SessionAnswers } from './session-answers.js';
import { SignInLimits } from './sign-in-limits.js';

/** Before anybody is signed in; only pages of this service may send them. */
const SIGN_IN = {
  auth: 'public',
  sameOrigin: true,
  since: '2026-10-01',
  maxBodyBytes: 16_384,
} as const satisfies RouteOptions;

/** Where who asked for no page begins. */
const CONSOLE = '/app';

/** Signing in by a passkey. Nobody says who is about to: so nobody is told whether such a person exists (rule PEOPLE-5). */
@Controller('v1/auth/passkey')
export class PasskeySignInController {
  constructor(
    private readonly signIn: PasskeySignIn,
    private readonly limits: SignInLimits,
    private readonly answers: SessionAnswers,
    private readonly site: Site,
  ) {}

  @Post('options')
  @HttpCode(200)
  @Route(SIGN_IN)
  async options(
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    this.limits.admitChallenge(exchange.ip);
    const { options, browser } = await this.signIn.options(this.site.relyingParty);
    const seconds = PASSKEY_CHALLENGE_MS / 1000;
    void reply.header('Set-Cookie', setCookie('passkey', browser, seconds, this.site));
    return {
      object: 'passkey_request',
      public_key: { ...options, allowCredentials: [...options.allowCredentials] },
      expires_in_s: seconds,
    };
  }

  @Post('verify')
  @HttpCode(200)
  @Route(SIGN_IN)
  async verify(
    @Body() { credential, next }: VerifyPasskeyBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const answer = assertionAnswerOf(credential);
    const request = { place: placeOf(exchange), requestId: exchange.requestId };
    const browser = readCookie(exchange, 'passkey', this.site);
    const opened = await this.limits.counted(exchange.ip, () =>
      this.signIn.signIn(answer, browser, this.site.relyingParty, request),
    );
    return { ...(await this.answers.opened(opened, reply, 'passkey')), next: nextPath(next) ?? CONSOLE };
  }
}
