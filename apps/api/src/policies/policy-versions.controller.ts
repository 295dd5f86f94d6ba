import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { streamOf } from '#libs/domain/kernel';
import { AddPolicyVersion, policyDecider, versionNamed } from '#libs/domain/policies';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { ListAnswers } from '../lists/list-answers.js';
import type { PageRequest } from '../lists/listed.js';
import { ListPolicyVersions, type VersionPosition } from './list-policy-versions.query-handler.js';
import { AddPolicyVersionBody } from './policy.dto.js';
import { PolicyLinter } from './policy-linter.js';
import { policyId, PolicyReader } from './policy-reader.js';
import { SOURCE_BODY } from './policy-routes.js';
import { diagnosticsView, listedVersionView, outlinedVersionView } from './policy.view.js';

@Controller('v1/policies/:id/versions')
export class PolicyVersionsController {
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
    @Param('id') id: string,
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { org } = exchange.caller;
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<VersionPosition>) => new ListPolicyVersions(org, policyId(id), page),
      {
        item: listedVersionView,
        position: ({ version: { version } }) => ({ version }),
      },
    );
  }

  /** By its number or its `pv_` id. */
  @Get(':v')
  @Route(READ)
  async get(@Param('id') id: string, @Param('v') v: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const policy = await this.policies.policyNamed(org, id);
    return outlinedVersionView(policy.policy, versionNamed(policy, v), await this.policies.slotsOf(org));
  }

  /** 201 with a new version; 200 with the existing one when the content is identical (rule POLICY-3). */
  @Post()
  @Route(SOURCE_BODY)
  async add(
    @Param('id') id: string,
    @Body() { source, notes, expected_latest_version: expectedLatest }: AddPolicyVersionBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const expected = expectedLatest === undefined ? {} : { expectedLatest };
    const data = { org, policy: policyId(id), source, notes: notes ?? null, origin: 'user' as const, ...expected };
    const { policy, version, isNew } = await this.commands.execute(new AddPolicyVersion(data, metadata));
    if (!isNew) reply.code(200);
    const deed = await this.deeds.deedOf(streamOf(policyDecider.category, policy.policy), metadata);
    const { diagnostics } = await this.linter.lint(org, source);
    const view = await outlinedVersionView(policy.policy, version, await this.policies.slotsOf(org));
    return { ...view, deed, diagnostics: diagnosticsView(diagnostics) };
  }
}
