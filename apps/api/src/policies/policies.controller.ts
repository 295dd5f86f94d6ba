import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { streamOf } from '#libs/domain/kernel';
import { CreatePolicy, policyDecider } from '#libs/domain/policies';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { ListPolicies } from './list-policies.query-handler.js';
import { CreatePolicyBody, LintPolicyBody } from './policy.dto.js';
import { PolicyLinter } from './policy-linter.js';
import { PolicyReader } from './policy-reader.js';
import { diagnosticsView, listedPolicyView, policyView } from './policy.view.js';
import { SOURCE_BODY } from './policy-routes.js';

@Controller('v1/policies')
export class PoliciesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policies: PolicyReader,
    private readonly deeds: ChangeDeeds,
    private readonly lists: ListAnswers,
    private readonly linter: PolicyLinter,
  ) {}

  /** Newest first. */
  @Get()
  @Route(READ)
  async list(
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListPolicies(exchange.caller.org, page),
      {
        item: listedPolicyView,
        position: ({ policy }) => timePositionOf(policy),
      },
    );
  }

  @Get(':id')
  @Route(READ)
  async get(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const policy = await this.policies.policyNamed(org, id);
    return policyView(policy, await this.policies.slotsOf(org));
  }

  /** With its first version. It decides nothing until that is activated. */
  @Post()
  @Route(SOURCE_BODY)
  async create(@Body() body: CreatePolicyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const data = { org, name: body.name, source: body.source, notes: body.notes ?? null, origin: 'user' as const };
    const policy = await this.commands.execute(new CreatePolicy(data, metadata));
    const stream = streamOf(policyDecider.category, policy.policy);
    const deed = await this.deeds.deedOf(stream, metadata, 'PolicyCreated');
    const { diagnostics } = await this.linter.lint(org, body.source);
    return { ...policyView(policy, await this.policies.slotsOf(org)), deed, diagnostics: diagnosticsView(diagnostics) };
  }

  /** What saving this source would say, and what the tools there are say of it. Nothing is stored. */
  @Post('lint')
  @HttpCode(200)
  @Route(SOURCE_BODY)
  async lint(@Body() { source }: LintPolicyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { isValid, diagnostics } = await this.linter.lint(exchange.caller.org, source);
    return { object: 'policy_lint', valid: isValid, diagnostics: diagnosticsView(diagnostics) };
  }
}
