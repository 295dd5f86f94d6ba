import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import { LinkedApprovals } from '#libs/domain/gate';
import { checkedReason, DomainError } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { SignInLimits } from '../people/sign-in-limits.js';
import { ApprovalAnswers } from './approval-answers.js';
import { ApprovalPasskeys } from './approval-passkeys.js';
import { DecideByLinkBody, LinkedPasskeyRequestBody, PreviewLinkBody } from './approval.dto.js';

/** For whoever has the link of a mail; only pages of this service may send them. */
const BY_LINK = {
  auth: 'public',
  sameOrigin: true,
  since: '2026-10-01',
  maxBodyBytes: 4_096,
} as const satisfies RouteOptions;

/** With what a passkey signed. */
const DECIDE = { ...BY_LINK, maxBodyBytes: 16_384 } as const satisfies RouteOptions;

/** An approval by the link of a mail: look at it, then say yes or no. */
@Controller('v1/approvals/link')
export class ApprovalLinksController {
  constructor(
    private readonly linked: LinkedApprovals,
    private readonly answers: ApprovalAnswers,
    private readonly limits: SignInLimits,
    private readonly passkeys: ApprovalPasskeys,
  ) {}

  /** Uses nothing: mail scanners follow links. */
  @Post('preview')
  @HttpCode(200)
  @Route(BY_LINK)
  async preview(@Body() { token }: PreviewLinkBody, @RequestContext() { ip }: Exchange): Promise<JsonObject> {
    const link = await this.limits.counted(ip, () => this.linked.open(token));
    const approval = await this.answers.forPerson(link.org, link.approval, link.user);
    return { object: 'approval_link', decides: link.isDecidable && approval['status'] === 'pending', approval };
  }

  /** What the device of the link's person is asked to sign. Uses nothing. */
  @Post('passkey/options')
  @HttpCode(200)
  @Route(BY_LINK)
  async passkey(@Body() body: LinkedPasskeyRequestBody, @RequestContext() { ip }: Exchange): Promise<JsonObject> {
    return this.limits.counted(ip, async () => {
      const link = await this.linked.open(body.token);
      if (!link.isDecidable) throw new DomainError('approval_link_review_only');
      return this.passkeys.request(link.org, link.approval, link.user, body);
    });
  }

  @Post('decide')
  @HttpCode(200)
  @Route(DECIDE)
  async decide(@Body() body: DecideByLinkBody, @RequestContext() { ip, requestId }: Exchange): Promise<JsonObject> {
    const reason = checkedReason(body.reason ?? null);
    const answer = { decision: body.decision, contextDigest: body.context_digest as Digest, reason };
    const assertion = this.passkeys.given(body.passkey);
    return this.limits.counted(ip, async () => {
      const link = await this.linked.open(body.token);
      return this.answers.shown(await this.linked.say(link, { ...answer, assertion }, requestId), link.user);
    });
  }
}
