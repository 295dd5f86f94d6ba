import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Digest, JsonObject } from '#libs/crypto';
import { actionOfApproval, type ApprovalDecision, DecideApproval } from '#libs/domain/gate';
import { checkedReason, DomainError, parseId, type ApprovalId } from '#libs/domain/kernel';
import { READ } from '../control-plane.js';
import { ActionReader } from '../gate/action-reader.js';
import type { PersonPrincipal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { ApprovalAnswers } from './approval-answers.js';
import { ApprovalPasskeys } from './approval-passkeys.js';
import { ApproveBody, DenyBody, PasskeyRequestBody } from './approval.dto.js';

/** For people. A key is let in as far as it takes to be told so. */
const DECIDE = { auth: 'session_or_key', role: 'viewer', since: '2026-10-01' } as const satisfies RouteOptions;

/** One approval: what would be decided on, and the decision. */
@Controller('v1/approvals/:id')
export class ApprovalsController {
  constructor(
    private readonly answers: ApprovalAnswers,
    private readonly actions: ActionReader,
    private readonly commands: CommandBus,
    private readonly passkeys: ApprovalPasskeys,
  ) {}

  @Get()
  @Route(READ)
  async get(@Param('id') id: string, @RequestContext() { caller }: Exchange): Promise<JsonObject> {
    const approval = approvalId(id);
    return caller.kind === 'person'
      ? this.answers.forPerson(caller.org, approval, caller.user)
      : this.answers.plain(caller.org, approval);
  }

  /** The call runs at once by the last signature that was needed; the answer does not wait for it. */
  @Post('approve')
  @HttpCode(200)
  @Route(DECIDE)
  approve(
    @Param('id') id: string,
    @Body() body: ApproveBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    return this.decide('approve', id, body, exchange);
  }

  /** One no is enough, and final. */
  @Post('deny')
  @HttpCode(200)
  @Route(DECIDE)
  deny(@Param('id') id: string, @Body() body: DenyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return this.decide('deny', id, body, exchange);
  }

  /** What the person's device is asked to sign. Changes nothing. */
  @Post('passkey/options')
  @HttpCode(200)
  @Route({ ...DECIDE, idempotency: 'none' })
  async passkey(
    @Param('id') id: string,
    @Body() body: PasskeyRequestBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const approval = approvalId(id);
    const { org, user } = await this.person(approval, exchange);
    return this.passkeys.request(org, approval, user, body);
  }

  private async decide(
    decision: ApprovalDecision,
    id: string,
    { context_digest: contextDigest, reason, passkey }: DenyBody,
    exchange: Exchange,
  ): Promise<JsonObject> {
    const approval = approvalId(id);
    const { org, user: by } = await this.person(approval, exchange);
    const answer = {
      decision,
      by,
      via: 'console' as const,
      contextDigest: (contextDigest ?? null) as Digest | null,
      reason: checkedReason(reason ?? null),
      assertion: this.passkeys.given(passkey),
    };
    const decided = await this.commands.execute(new DecideApproval(org, approval, answer, exchange.commandMetadata()));
    return this.answers.shown(decided, by);
  }

  /** Whoever may not know of it is told nothing, not even that only people decide. */
  private async person(approval: ApprovalId, exchange: Exchange): Promise<PersonPrincipal> {
    const { caller } = exchange;
    if (caller.kind === 'person') return caller;
    const action = actionOfApproval(approval);
    const read = action && (await this.actions.read(action, caller.org));
    if (!read?.action.approval) throw new DomainError('not_found');
    if (caller.kind === 'agent' && read.action.submission.agent !== caller.agent) throw new DomainError('not_found');
    throw new DomainError('approval_needs_person');
  }
}

/** @throws {DomainError} not_found */
const approvalId = (text: string): ApprovalId => {
  const id = parseId('apr', text);
  if (!id) throw new DomainError('not_found');
  return id;
};
