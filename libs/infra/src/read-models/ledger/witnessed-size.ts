import type { OrgId } from '#libs/domain/kernel';
import type { WitnessedSize } from '#libs/domain/ledger';
import type { DataSource } from 'typeorm';
import { storedText } from '../columns.js';
import { CosignatureRow } from './cosignature.row.js';

/** Walks the sizes of a tree in order until one has been cosigned by enough of the witnesses. */
export const witnessedSize = async (
  source: DataSource,
  org: OrgId,
  { origin, witnesses, quorum, atLeast }: WitnessedSize,
): Promise<number | null> => {
  const { tablePath } = source.getMetadata(CosignatureRow);
  const order = atLeast === null ? 'desc' : 'asc';
  const rows = await source.query<{ size: string }[]>(
    `select size from ${tablePath} where org = $1 and origin = $2 and witness = any($3) and size >= $4
     group by size having count(distinct witness) >= $5 order by size ${order} limit 1`,
    [storedText(org), storedText(origin), witnesses, atLeast ?? 0, quorum],
  );
  return rows[0] === undefined ? null : Number(rows[0].size);
};
