import type { OrgId } from '#libs/domain/kernel';
import {
  type BrokenLedgers,
  CheckpointJournal,
  CheckpointMaker,
  CheckpointSigningKeys,
  LedgerReader,
  LedgerTrees,
} from '#libs/domain/ledger';
import { PostgresBrokenLedgers, PostgresLedgerTreeRows, VaultCheckpointKeyRing } from '../ledger/index.js';
import type { Deployment } from './deployment.js';

export interface CheckpointParts {
  readonly keys: CheckpointSigningKeys;
  readonly journal: CheckpointJournal;
  readonly trees: LedgerTrees;
  readonly broken: BrokenLedgers;
  readonly maker: CheckpointMaker;
}

/** What it takes of a deployment. */
export interface CheckpointNeeds extends Pick<Deployment, 'runner' | 'streams' | 'clock' | 'randomness' | 'baseUrl'> {
  readonly database: Pick<Deployment['database'], 'store' | 'durable'>;
  readonly secrets: Pick<Deployment['secrets'], 'cipher'>;
}

/** What signs the trees of ledgers, and what is asked for proofs in them. */
export const checkpointsOf = (deployment: CheckpointNeeds): CheckpointParts => {
  const { database, secrets, runner, streams, clock, randomness } = deployment;
  const { store, durable } = database;
  const ledger = new LedgerReader(store);
  const journal = new CheckpointJournal(store);
  const trees = new LedgerTrees(ledger, new PostgresLedgerTreeRows(durable));
  const broken = new PostgresBrokenLedgers(durable);
  const keyRing = new VaultCheckpointKeyRing(durable, secrets.cipher);
  const keys = new CheckpointSigningKeys(runner, streams, keyRing, { clock, randomness });
  // Asked when a first checkpoint is made: a server of this process may not listen yet.
  const originOf = (org: OrgId): string => `${new URL(deployment.baseUrl).host}/ledger/${org}`;
  const maker = new CheckpointMaker({ ledger, trees, journal, keys, broken, clock, originOf });
  return { keys, journal, trees, broken, maker };
};
