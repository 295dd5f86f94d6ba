import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import { LinkedApprovals } from '#libs/domain/gate';
import { checkedReason } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { SignInLimits } from '../people/sign-in-limits.js';
import { ApprovalAnswers } from './approval-answers.js';
import { DecideByLinkBody, PreviewLinkBody } from './approval.dto.js';

/** For whoever has the link of a mail; only pages of this service may send them. */
const BY_LINK = {
  auth: 'public',
  sameOrigin: true,
  since: '2026-10-01',
  maxBodyBytes: 4_096,
} as const satisfies RouteOptions;

/** An approval by the link of a mail: look at it, then say yes or no. */
@Controller('v1/approvals/link')
export class ApprovalLinksController {
  constructor(
    private readonly linked: LinkedApprovals,
    private readonly answers: ApprovalAnswers,
    private readonly limits: SignInLimits,
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

  @Post('decide')
  @HttpCode(200)
  @Route(BY_LINK)
  async decide(@Body() body: DecideByLinkBody, @RequestContext() { ip, requestId }: Exchange): Promise<JsonObject> {
    const reason = checkedReason(body.reason ?? null);
    const answer = { decision: body.decision, contextDigest: body.context_digest as Digest, reason };
    return this.limits.counted(ip, async () => {
      const link = await this.linked.open(body.token);
      return this.answers.shown(await this.linked.say(link, answer, requestId), link.user);
    });
  }
}
