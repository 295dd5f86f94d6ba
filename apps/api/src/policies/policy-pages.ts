import type { OrgId, PolicyVersionId } from '#libs/domain/kernel';
import type { PolicyMode } from '#libs/domain/people';
import { PolicySlotRow, PolicyVersionRow, type ReadModels } from '#libs/infra/read-models';

/** A source has up to 256 KiB. A page ends before its sources would together be larger than this; it holds at least one. */
export const PAGE_SOURCES_LIMIT_BYTES = 2 * 1024 * 1024;

export interface ListedPolicyVersion {
  readonly version: PolicyVersionRow;
  readonly activation: PolicyMode | null;
}

/** How many of these, in their order, fit into one page. */
export const countThatFits = (sourceBytes: readonly number[]): number => {
  let totalBytes = 0;
  for (const [index, bytes] of sourceBytes.entries()) {
    totalBytes += bytes;
    if (totalBytes > PAGE_SOURCES_LIMIT_BYTES && index > 0) return index;
  }
  return sourceBytes.length;
};

/** The organization's slots, at most one of each mode. */
export const readSlots = (readModels: ReadModels, org: OrgId): Promise<readonly PolicySlotRow[]> =>
  readModels.of(org, PolicySlotRow).all();

/** The slot that holds the version. Enforce counts, should it be in both. */
export const activationOf = (slots: readonly PolicySlotRow[], version: PolicyVersionId): PolicyMode | null => {
  const modes = slots.filter(({ versionId }) => versionId === version).map(({ mode }) => mode);
  return modes.includes('enforce') ? 'enforce' : (modes[0] ?? null);
};

/** How large the sources of some versions are, without reading them. */
export const readSourceBytes = async (
  readModels: ReadModels,
  org: OrgId,
  ids: readonly PolicyVersionId[],
): Promise<readonly number[]> => {
  const rows = await readModels
    .of(org, PolicyVersionRow)
    .where('row.id = ANY(:ids)', { ids })
    .only('id', 'sourceBytes')
    .all();
  const bytes = new Map(rows.map((row) => [row.id, row.sourceBytes]));
  return ids.map((id) => bytes.get(id) ?? 0);
};

/** The whole rows of some versions. */
export const readVersions = async (
  readModels: ReadModels,
  org: OrgId,
  ids: readonly PolicyVersionId[],
): Promise<ReadonlyMap<PolicyVersionId, PolicyVersionRow>> => {
  const versions = await readModels.of(org, PolicyVersionRow).where('row.id = ANY(:ids)', { ids }).all();
  return new Map(versions.map((version) => [version.id, version]));
};
