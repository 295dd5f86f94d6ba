import { Injectable } from '@nestjs/common';
import { PolicyJudge } from '#libs/domain/gate';
import { Bus, type OrgId, type PolicyId, type PolicyVersionId } from '#libs/domain/kernel';

/** An activation in shadow is answered when the next call is put to the version. */
@Injectable()
export class ShadowReadiness {
  constructor(
    private readonly judge: PolicyJudge,
    private readonly bus: Bus,
  ) {}

  ready(org: OrgId, policy: PolicyId, versionId: PolicyVersionId): Promise<void> {
    return this.judge.announceShadow(org, { policy, versionId }, this.bus);
  }
}
