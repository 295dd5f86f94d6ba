import { Controller, Get } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import type { LivingOrganization } from '#libs/domain/people';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { PolicyReader } from './policy-reader.js';

@Controller()
export class ReadPolicySlotsController {
  constructor(private readonly policies: PolicyReader) {}

  /** What decides and what runs beside it, whichever policies they are of; read from the streams, so it is never behind. */
  @Get('/v1/policies/slots')
  @Route(READ)
  async get(@RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { enforced, shadow } = await this.policies.slotsOf(org);
    return {
      object: 'policy_slots',
      enforced: await this.slotView(org, enforced),
      shadow: await this.slotView(org, shadow),
    };
  }

  private async slotView(org: OrgId, slot: LivingOrganization['enforced']): Promise<JsonObject | null> {
    if (slot === null) return null;
    const { name } = await this.policies.policyNamed(org, slot.policy);
    return {
      policy: { id: slot.policy, name },
      policy_version: slot.versionId,
      version: slot.version,
      since: slot.since,
      by: slot.by && { ...slot.by },
    };
  }
}
