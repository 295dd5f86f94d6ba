import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { DomainError, type OrgId, type PolicyId } from '#libs/domain/kernel';
import { PolicyRow, PolicyVersionRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import type { Listed, PageRequest } from '../lists/listed.js';
import { activationOf, countThatFits, readSlots, readVersions, type ListedPolicyVersion } from './policy-pages.js';

export type VersionPosition = {
  readonly version: number;
};

/** GET /v1/policies/{id}/versions: newest first. */
export class ListPolicyVersions extends Query<Listed<ListedPolicyVersion>> {
  constructor(
    readonly org: OrgId,
    readonly policy: PolicyId,
    readonly page: PageRequest<VersionPosition>,
  ) {
    super();
  }
}

@QueryHandler(ListPolicyVersions)
export class ListPolicyVersionsHandler implements IQueryHandler<ListPolicyVersions> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  /** @throws {DomainError} not_found: the organization has no such policy */
  async execute({ org, policy, page }: ListPolicyVersions): Promise<Listed<ListedPolicyVersion>> {
    const { lagEvents } = await this.waiter.catchUp(['policies']);
    const known = await this.readModels.of(org, PolicyRow).where('row.id = :policy', { policy }).first();
    if (!known) throw new DomainError('not_found');
    const measured = this.readModels.of(org, PolicyVersionRow).where('row.policy = :policy', { policy });
    if (page.after) measured.where('row.version < :after', { after: page.after.version });
    const found = await measured.only('id', 'version', 'sourceBytes').orderBy('version', 'DESC').page(page.limit);
    const fitting = countThatFits(found.rows.map(({ sourceBytes }) => sourceBytes));
    const ids = found.rows.slice(0, fitting).map(({ id }) => id);
    const [versions, slots] = await Promise.all([
      readVersions(this.readModels, org, ids),
      readSlots(this.readModels, org),
    ]);
    return {
      rows: ids.flatMap((id) => {
        const version = versions.get(id);
        return version ? [{ version, activation: activationOf(slots, id) }] : [];
      }),
      hasMore: found.hasMore || fitting < found.rows.length,
      lagEvents,
    };
  }
}
