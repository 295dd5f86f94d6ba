import type { OrgId } from '#libs/domain/kernel';
import type { CheckpointParts, Deployment } from '#libs/infra/deployment';
import { Census } from '../census.js';

/** The organization that is meant, what signs its tree, and how many deeds it has. */
export const openedLedger = async (
  deployment: Deployment,
  wanted: OrgId | undefined,
): Promise<{ readonly org: OrgId; readonly parts: CheckpointParts; readonly size: number }> => {
  const { checkpointsOf } = await import('#libs/infra/deployment');
  const { database, streams, directory, tails } = deployment;
  const { org } = await new Census(database.store, streams, directory).organization(wanted);
  return { org, parts: checkpointsOf(deployment), size: (await tails.of(org)).seq };
};
