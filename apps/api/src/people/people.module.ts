import { Global, Module } from '@nestjs/common';
import { ORGANIZATION_HANDLERS } from '#libs/domain/agents/handlers';
import { MEMBER_HANDLERS, PASSKEY_HANDLERS } from '#libs/domain/people/handlers';
import { SessionAuthenticator } from '../http/authenticator.port.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AdminKeysController } from './admin-keys.controller.js';
import { CountActionsInFlightHandler } from './count-actions-in-flight.query-handler.js';
import { MeAnswers } from './me-answers.js';
import { MembersController } from './members.controller.js';
import { OrganizationController } from './organization.controller.js';
import { ListSecurityEventsHandler } from './list-security-events.query-handler.js';
import { SecurityEventsController } from './security-events.controller.js';
import { ListAnswers } from '../lists/list-answers.js';
import { PasskeyLimits } from './passkey-limits.js';
import { PasskeySignInController } from './passkey-sign-in.controller.js';
import { PasskeysController } from './passkeys.controller.js';
import { SessionAnswers } from './session-answers.js';
import { PeopleSessionAuthenticator } from './session-authenticator.js';
import { SessionsController } from './sessions.controller.js';
import { SignInController } from './sign-in.controller.js';
import { SignInLimits } from './sign-in-limits.js';

/** People: sign-in, sessions, the organization, its members and its admin keys. */
@Module({
  imports: [LedgerModule],
  controllers: [
    SignInController,
    PasskeySignInController,
    SessionsController,
    PasskeysController,
    OrganizationController,
    MembersController,
    AdminKeysController,
    SecurityEventsController,
  ],
  providers: [
    ...ORGANIZATION_HANDLERS,
    ...MEMBER_HANDLERS,
    ...PASSKEY_HANDLERS,
    MeAnswers,
    SessionAnswers,
    SignInLimits,
    PasskeyLimits,
    CountActionsInFlightHandler,
    ListAnswers,
    ListSecurityEventsHandler,
  ],
  exports: [SignInLimits],
})
export class PeopleModule {}

/** What the edge asks about cookies; global, because the guard stands before every context. */
@Global()
@Module({
  providers: [{ provide: SessionAuthenticator, useClass: PeopleSessionAuthenticator }],
  exports: [SessionAuthenticator],
})
export class SessionModule {}
