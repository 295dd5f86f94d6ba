import { Body, Controller, Get, Headers, Put, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import {
  ReplaceWitnessPolicyOf,
  textOfWitnessPolicy,
  WitnessPolicies,
  type WitnessPolicy,
  witnessPolicyOfText,
} from '#libs/domain/ledger';
import { isRecentSignIn } from '#libs/domain/people';
import { OWN } from '../control-plane.js';
import { prefers } from '../http/accepted.js';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { Caller, RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { isTextBody } from '../http/transport-checks.js';
import { READ_TREE, sendJson, sendText } from './checkpoint-answers.js';
import { WitnessPolicyBody } from './witness-policy.dto.js';
import { WitnessSights } from './witness-sights.js';

/** Only an owner comes here, who has a session; no key does. */
const isJustSignedIn = (caller: Principal, now: Timestamp): boolean =>
  caller.kind === 'person' && isRecentSignIn(caller.session.row, Date.parse(now));

/** Who cosigns the organization's checkpoints. */
@Controller('v1/ledger/witnesses')
export class WitnessPolicyController {
  constructor(
    private readonly policies: WitnessPolicies,
    private readonly commands: CommandBus,
    private readonly sights: WitnessSights,
  ) {}

  @Get()
  @Route(READ_TREE)
  async get(
    @Caller() { org }: Principal,
    @Headers('accept') accept: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answer(reply, accept, org, await this.policies.of(org));
  }

  /** As a whole: whoever is not named is asked no more. */
  @Put()
  @Route({ ...OWN, textBody: true })
  async replace(
    @Body() body: WitnessPolicyBody,
    @RequestContext() exchange: Exchange,
    @Headers('accept') accept: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { org } = exchange.caller;
    const isText = isTextBody(exchange);
    const wanted = isText ? witnessPolicyOfText(exchange.body) : body;
    const expected = isText ? undefined : body.expected_updated_at;
    const metadata = exchange.commandMetadata();
    const terms = {
      canWeaken: isJustSignedIn(exchange.caller, metadata.now),
      ...(expected === undefined ? {} : { expectedUpdatedAt: expected }),
    };
    const policy = await this.commands.execute(new ReplaceWitnessPolicyOf(org, wanted, metadata, terms));
    await this.answer(reply, accept, org, policy);
  }

  private async answer(
    reply: FastifyReply,
    accept: string | undefined,
    org: OrgId,
    policy: WitnessPolicy,
  ): Promise<void> {
    void reply.header('Vary', 'Accept');
    const isText = prefers(accept, ({ mediaType }) => mediaType === 'text/plain', 'application/json');
    if (isText) sendText(reply, textOfWitnessPolicy(policy));
    else sendJson(reply, await this.sights.of(org, policy));
  }
}
