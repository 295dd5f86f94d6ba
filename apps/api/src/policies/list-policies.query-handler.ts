import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OrgId, PolicyVersionId } from '#libs/domain/kernel';
import type { PolicyMode } from '#libs/domain/people';
import { PolicyRow, type PolicySlotRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import {
  activationOf,
  countThatFits,
  readSlots,
  readSourceBytes,
  readVersions,
  type ListedPolicyVersion,
} from './policy-pages.js';

export interface ListedPolicy {
  readonly policy: PolicyRow;
  readonly latestVersion: ListedPolicyVersion;
  /** The version of this policy that decides, and the one that runs in shadow. */
  readonly enforced: PolicyVersionId | null;
  readonly shadow: PolicyVersionId | null;
}

/** GET /v1/policies: newest first, each with its latest version. */
export class ListPolicies extends Query<Listed<ListedPolicy>> {
  constructor(
    readonly org: OrgId,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListPolicies)
export class ListPoliciesHandler implements IQueryHandler<ListPolicies> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, page }: ListPolicies): Promise<Listed<ListedPolicy>> {
    const { lagEvents } = await this.waiter.catchUp(['policies']);
    // A policy and its first version are one append; between the two there is nothing to show.
    const rows = this.readModels.of(org, PolicyRow).where('row.latestVersionId IS NOT NULL');
    const found = await newestFirst(rows, page);
    const fitting = countThatFits(await readSourceBytes(this.readModels, org, found.rows.map(latestOf)));
    return {
      rows: await this.withVersions(org, found.rows.slice(0, fitting)),
      hasMore: found.hasMore || fitting < found.rows.length,
      lagEvents,
    };
  }

  private async withVersions(org: OrgId, policies: readonly PolicyRow[]): Promise<readonly ListedPolicy[]> {
    const [versions, slots] = await Promise.all([
      readVersions(this.readModels, org, policies.map(latestOf)),
      readSlots(this.readModels, org),
    ]);
    return policies.flatMap((policy) => {
      const version = versions.get(latestOf(policy));
      if (!version) return [];
      return [
        {
          policy,
          latestVersion: { version, activation: activationOf(slots, version.id) },
          enforced: versionIn(slots, 'enforce', policy),
          shadow: versionIn(slots, 'shadow', policy),
        },
      ];
    });
  }
}

const latestOf = ({ latestVersionId }: PolicyRow): PolicyVersionId => latestVersionId as PolicyVersionId;

const versionIn = (slots: readonly PolicySlotRow[], mode: PolicyMode, { id }: PolicyRow): PolicyVersionId | null =>
  slots.find((slot) => slot.mode === mode && slot.policy === id)?.versionId ?? null;
