import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { streamOf, type CommandMetadata, type DeedId } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { ActivatePolicyVersion, DeactivatePolicy } from '#libs/domain/policies';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { ChangeSlotBody } from './policy.dto.js';
import { PolicyLinter } from './policy-linter.js';
import { policyId, PolicyReader } from './policy-reader.js';
import { ShadowReadiness } from './shadow-readiness.js';
import { diagnosticsView, outlinedVersionView, policyView } from './policy.view.js';

/** Which version decides, and which one is only asked what it would. */
@Controller('v1/policies/:id')
export class PolicySlotsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policies: PolicyReader,
    private readonly deeds: ChangeDeeds,
    private readonly linter: PolicyLinter,
    private readonly shadows: ShadowReadiness,
  ) {}

  /**
   * An enforced version takes the place of the one before, for every call that is decided from then on. The shadow slot must
   * be free, and is freed when what runs in it is enforced.
   */
  @Post('versions/:v/activate')
  @HttpCode(200)
  @Route(CHANGE)
  async activate(
    @Param('id') id: string,
    @Param('v') v: string,
    @Body() { mode, reason }: ChangeSlotBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const { policy, version, organization } = await this.commands.execute(
      new ActivatePolicyVersion(org, { policy: policyId(id), version: v, mode }, reason ?? null, metadata),
    );
    const deed = await this.deedOf(metadata, 'PolicyActivated');
    if (mode === 'shadow') await this.shadows.ready(org, policy.policy, version.id);
    const view = await outlinedVersionView(policy.policy, version, organization);
    // Tools may have changed since it was saved.
    const { diagnostics } = await this.linter.lint(org, version.source, 'stored');
    return { ...view, deed, diagnostics: diagnosticsView(diagnostics) };
  }

  /** Where nothing is enforced, nothing is allowed. */
  @Post('deactivate')
  @HttpCode(200)
  @Route(CHANGE)
  async deactivate(
    @Param('id') id: string,
    @Body() { mode, reason }: ChangeSlotBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const policy = await this.policies.policyNamed(org, id);
    const { organization } = await this.commands.execute(
      new DeactivatePolicy(org, policy.policy, mode, reason ?? null, metadata),
    );
    return { ...policyView(policy, organization), deed: await this.deedOf(metadata, 'PolicyDeactivated') };
  }

  private deedOf(metadata: CommandMetadata, type: string): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(organizationDecider.category, metadata.org as string), metadata, type);
  }
}
