import { Body, Controller, Get, HttpCode, Injectable, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { DomainError } from '#libs/domain/kernel';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { IfPresent } from '../../apps/api/src/http/shape.js';
import { Deferred } from '../support/deferred.js';

/** The code that a sign-in mail would hold. */
export const CODE = '314159';
/** A token of 43 characters. Its kind decides what the stand-in answers. */
export const tokenOf = (kind: 'good' | 'invite' | 'anywhere' | 'first' | 'expired'): string => kind.padEnd(43, '_');

class LoginShape {
  @IsString()
  email!: string;

  @IfPresent()
  @IsString()
  next?: string;
}

class PreviewShape {
  @IsString()
  token!: string;
}

class CallbackShape {
  @IfPresent()
  @IsString()
  token?: string;

  @IfPresent()
  @IsString()
  email?: string;

  @IfPresent()
  @IsString()
  code?: string;
}

interface Call {
  readonly path: string;
  readonly body: object;
}

/** A record of the requests, and what the next one gets. */
@Injectable()
export class AuthScript {
  readonly calls: Call[] = [];
  /** Thrown by the next call, once. */
  failure: DomainError | null = null;
  /** The next call waits for this. */
  held: Deferred<void> | null = null;
  /** The `next` in the callback's answer. */
  next: string | null = null;

  async take(path: string, body: object): Promise<void> {
    this.calls.push({ path, body: { ...body } });
    await this.held?.promise;
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
  }

  forget(): void {
    this.calls.length = 0;
    this.failure = null;
    this.held = null;
    this.next = null;
  }
}

const since = '2026-10-01';
const ORG = { id: 'org_01h2xcejqtf2nbrexx3vqjhp41', name: 'Müller \u202e& <b>Sons</b>\u202c GmbH' };
const EXPIRES_AT = '2026-10-01T09:15:00.000Z';

/** The session. The page that tells why somebody was signed out asks for it. */
@Controller('v1/me')
export class MeStandIn {
  constructor(private readonly script: AuthScript) {}

  @Get()
  @Route({ auth: 'public', since })
  async me(): Promise<object> {
    await this.script.take('me', {});
    return { object: 'me' };
  }
}

/** The three routes by which the pages sign in, with fixed answers. */
@Controller('v1/auth')
export class AuthStandIn {
  constructor(private readonly script: AuthScript) {}

  @Post('login')
  @HttpCode(202)
  @Route({ auth: 'public', since })
  async login(@Body() body: LoginShape) {
    await this.script.take('login', body);
    if (!body.email.includes('@')) {
      throw new DomainError('validation_failed', {
        message: 'The field email must be an e-mail address.',
        param: 'email',
      });
    }
    return { object: 'login_request', expires_in_s: 900, code_digits: 6 };
  }

  @Post('preview')
  @HttpCode(200)
  @Route({ auth: 'public', since })
  async preview(@Body() body: PreviewShape) {
    await this.script.take('preview', body);
    const [kind] = body.token.split('_');
    if (kind === 'expired') throw new DomainError('login_link_invalid');
    const [org, role] = kind === 'anywhere' ? [null, null] : [ORG, 'admin'];
    const purpose = kind === 'invite' ? 'invite' : 'sign_in';
    const email = kind === 'first' ? null : 'ada@example.com';
    const inviter = purpose === 'invite' ? { type: 'user', email: 'grace@example.com' } : null;
    return { object: 'login_preview', purpose, email, org, role, invited_by: inviter, expires_at: EXPIRES_AT };
  }

  @Post('callback')
  @HttpCode(200)
  @Route({ auth: 'public', since })
  async callback(@Body() body: CallbackShape) {
    await this.script.take('callback', body);
    if (body.code !== undefined && body.code !== CODE) throw new DomainError('login_code_invalid');
    const next = this.script.next === null ? {} : { next: this.script.next };
    const user = { object: 'user', id: 'usr_01h2xcejqtf2nbrexx3vqjhp41', email: emailOf(body) };
    return { object: 'me', user, session: {}, membership: {}, organizations: [], csrf_token: 'x', ...next };
  }
}

const emailOf = ({ email, token }: CallbackShape): string | null =>
  token?.startsWith('first') ? null : (email ?? 'ada@example.com');
