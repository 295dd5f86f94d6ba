import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { DomainError, streamOf, type CommandMetadata, type DeedId } from '#libs/domain/kernel';
import { organizationDecider, type PolicyMode } from '#libs/domain/people';
import { ActivatePolicyVersion, DeactivatePolicy } from '#libs/domain/policies';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { ChangeSlotBody } from './policy.dto.js';
import { policyId, PolicyReader } from './policy-reader.js';
import { outlinedVersionView, policyView } from './policy.view.js';

/** Which version decides. */
@Controller('v1/policies/:id')
export class PolicySlotsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policies: PolicyReader,
    private readonly deeds: ChangeDeeds,
  ) {}

  /** The version takes the place of the one before, for every call that is decided from then on. */
  @Post('versions/:v/activate')
  @HttpCode(200)
  @Route(CHANGE)
  async activate(
    @Param('id') id: string,
    @Param('v') v: string,
    @Body() { mode, reason }: ChangeSlotBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    requireServedMode(mode);
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const { policy, version, organization } = await this.commands.execute(
      new ActivatePolicyVersion(org, policyId(id), v, reason ?? null, metadata),
    );
    const deed = await this.deedOf(metadata, 'PolicyActivated');
    return { ...(await outlinedVersionView(policy.policy, version, organization)), deed };
  }

  /** Then nothing is allowed. */
  @Post('deactivate')
  @HttpCode(200)
  @Route(CHANGE)
  async deactivate(
    @Param('id') id: string,
    @Body() { mode, reason }: ChangeSlotBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    requireServedMode(mode);
    const { org } = exchange.caller;
    const metadata = exchange.commandMetadata();
    const policy = await this.policies.policyNamed(org, id);
    const { organization } = await this.commands.execute(
      new DeactivatePolicy(org, policy.policy, reason ?? null, metadata),
    );
    return { ...policyView(policy, organization), deed: await this.deedOf(metadata, 'PolicyDeactivated') };
  }

  private deedOf(metadata: CommandMetadata, type: string): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(organizationDecider.category, metadata.org as string), metadata, type);
  }
}

const requireServedMode = (mode: PolicyMode): void => {
  if (mode === 'enforce') return;
  throw new DomainError('validation_failed', {
    param: 'mode',
    message: 'The mode shadow is not served by this version. Send mode enforce.',
  });
};
