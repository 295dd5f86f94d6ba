import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { Clock } from '#libs/domain/kernel';
import type { ClientPlace, OpenedSession } from '#libs/domain/people';
import type { Exchange } from '../http/exchange.js';
import { networkOf } from '../http/failed-key-limiter.js';
import { clearCookie, setCookie } from '../http/session-cookies.js';
import { Site } from '../http/site.js';
import { MeAnswers } from './me-answers.js';

const USER_AGENT_MAX = 128;

/** Answers that give a browser its session, or take it away. */
@Injectable()
export class SessionAnswers {
  constructor(
    private readonly answers: MeAnswers,
    private readonly site: Site,
    private readonly clock: Clock,
  ) {}

  /** @param spent the cookie of the way by which the person signed in, which has done its work */
  async opened(
    { row, token, csrf }: OpenedSession,
    reply: FastifyReply,
    spent: 'login' | 'passkey' = 'login',
  ): Promise<JsonObject> {
    const seconds = Math.max(0, Math.floor((row.expiresAtMs - this.clock.nowMs()) / 1000));
    void reply.header('Set-Cookie', [
      setCookie('session', token, seconds, this.site),
      setCookie('csrf', csrf, seconds, this.site),
      clearCookie(spent, this.site),
    ]);
    return this.answers.me(row, csrf);
  }

  closed(reply: FastifyReply): void {
    void reply.header('Set-Cookie', [clearCookie('session', this.site), clearCookie('csrf', this.site)]);
  }
}

export const placeOf = (exchange: Exchange): ClientPlace => {
  const [userAgent = ''] = exchange.headerValues('User-Agent');
  const shown = userAgent.slice(0, USER_AGENT_MAX).replace(/[^\x20-\x7e]/g, '?');
  return { network: networkOf(exchange.ip), userAgent: shown === '' ? null : shown };
};
