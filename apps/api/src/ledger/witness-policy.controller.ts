import { Body, Controller, Get, Headers, Put, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import {
  ReplaceWitnessPolicyOf,
  textOfWitnessPolicy,
  WitnessPolicies,
  type WitnessPolicy,
  witnessPolicyOfText,
} from '#libs/domain/ledger';
import { OWN } from '../control-plane.js';
import { prefers } from '../http/accepted.js';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { Caller, RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { isTextBody } from '../http/transport-checks.js';
import { READ_TREE, sendJson, sendText } from './checkpoint-answers.js';
import { WitnessPolicyBody } from './witness-policy.dto.js';
import { witnessPolicyView } from './witness-policy.view.js';

/** Who cosigns the organization's checkpoints. */
@Controller('v1/ledger/witnesses')
export class WitnessPolicyController {
  constructor(
    private readonly policies: WitnessPolicies,
    private readonly commands: CommandBus,
  ) {}

  @Get()
  @Route(READ_TREE)
  async get(
    @Caller() { org }: Principal,
    @Headers('accept') accept: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    answer(reply, accept, await this.policies.of(org));
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
    const wanted = isTextBody(exchange) ? witnessPolicyOfText(exchange.body) : body;
    const metadata = exchange.commandMetadata();
    answer(reply, accept, await this.commands.execute(new ReplaceWitnessPolicyOf(org, wanted, metadata)));
  }
}

const answer = (reply: FastifyReply, accept: string | undefined, policy: WitnessPolicy): void => {
  void reply.header('Vary', 'Accept');
  const isText = prefers(accept, ({ mediaType }) => mediaType === 'text/plain', 'application/json');
  if (isText) sendText(reply, textOfWitnessPolicy(policy));
  else sendJson(reply, witnessPolicyView(policy));
};
