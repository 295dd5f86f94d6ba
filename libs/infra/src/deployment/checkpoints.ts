import type pg from 'pg';
import type { EventStore, Logger, OrgId } from '#libs/domain/kernel';
import {
  type BrokenLedgers,
  CheckpointJournal,
  CheckpointMaker,
  CheckpointSigningKeys,
  LedgerBreaks,
  LedgerDisputes,
  LedgerReader,
  LedgerTrees,
  type RememberedTrees,
  WitnessAsker,
  WitnessAsking,
  type WitnessDisputes,
  WitnessPolicies,
  type WitnessStandings,
  WitnessWatch,
} from '#libs/domain/ledger';
import { baseUrlOf, type Config } from '../config/index.js';
import {
  EgressWitnessDoor,
  PostgresBrokenLedgers,
  PostgresLedgerTreeRows,
  PostgresWitnessDisputes,
  PostgresWitnessStandings,
  RememberedTreesFolder,
  signedTreesPath,
  VaultCheckpointKeyRing,
} from '../ledger/index.js';
import { sqlStateOf } from '../postgres/index.js';
import type { Deployment } from './deployment.js';

const NO_SUCH_TABLE = '42P01';

export interface CheckpointParts {
  readonly keys: CheckpointSigningKeys;
  readonly journal: CheckpointJournal;
  readonly trees: LedgerTrees;
  readonly broken: BrokenLedgers;
  readonly maker: CheckpointMaker;
  readonly policies: WitnessPolicies;
  readonly standings: WitnessStandings;
  readonly disputes: WitnessDisputes;
  readonly asking: WitnessAsking;
  readonly watch: WitnessWatch;
}

/** What it takes of a deployment. */
export interface CheckpointNeeds extends Pick<
  Deployment,
  'runner' | 'streams' | 'clock' | 'randomness' | 'baseUrl' | 'logger'
> {
  readonly database: Pick<Deployment['database'], 'store' | 'durable'>;
  readonly secrets: Pick<Deployment['secrets'], 'cipher'>;
  readonly egress: Pick<Deployment['egress'], 'check' | 'request'>;
  readonly config: Pick<Deployment['config'], 'env' | 'stateDir'>;
}

/** What signs the trees of ledgers, and what is asked for proofs in them. */
export const checkpointsOf = (deployment: CheckpointNeeds): CheckpointParts => {
  const { config, database, secrets, runner, streams, clock, randomness, egress, logger } = deployment;
  const { store, durable } = database;
  const ledger = new LedgerReader(store);
  const journal = new CheckpointJournal(store);
  const trees = new LedgerTrees(ledger, new PostgresLedgerTreeRows(durable), logger);
  const broken = new PostgresBrokenLedgers(durable);
  const keyRing = new VaultCheckpointKeyRing(durable, secrets.cipher);
  const keys = new CheckpointSigningKeys(runner, streams, keyRing, { clock, randomness, logger });
  const remembered = new RememberedTreesFolder(signedTreesPath(config.stateDir), logger);
  // Asked when a first checkpoint is made: a server of this process may not listen yet.
  const originOf = (org: OrgId): string => firstOrigin(deployment.baseUrl, org);
  const policies = new WitnessPolicies(runner, streams, { egress, isProduction: config.env === 'production' });
  const standings = new PostgresWitnessStandings(durable);
  const disputes = new PostgresWitnessDisputes(durable);
  const held = new LedgerDisputes({ disputes, standings, policies, keys, trees });
  const maker = new CheckpointMaker({
    ...{ ledger, trees, journal, keys, remembered, broken, disputes: held, clock, originOf },
  });
  const door = new EgressWitnessDoor(egress);
  const asking = new WitnessAsking({
    ...{ journal, trees, keys, broken, policies, standings, disputes },
    ...{ door, asker: new WitnessAsker(door), clock, randomness, logger },
  });
  const watch = new WitnessWatch({ policies, standings, journal, ledger, keys, clock });
  return { keys, journal, trees, broken, maker, policies, standings, disputes, asking, watch };
};

/** What {@link LedgerBreaks} takes where there is no whole deployment: an operator has a restored database go on. */
export const ledgerBreaksOf = (
  store: EventStore,
  durable: pg.Pool,
  config: Pick<Config, 'stateDir' | 'baseUrl' | 'host' | 'port'>,
  logger: Logger,
): { readonly breaks: LedgerBreaks; readonly remembered: RememberedTrees } => {
  const remembered = new RememberedTreesFolder(signedTreesPath(config.stateDir), logger);
  const baseUrl = baseUrlOf(config, config.port);
  const breaks = new LedgerBreaks({
    journal: new CheckpointJournal(store),
    remembered,
    broken: { remove: (org) => new PostgresBrokenLedgers(durable).remove(org).catch(unlessThereIsNone) },
    originOf: (org) => firstOrigin(baseUrl, org),
  });
  return { breaks, remembered };
};

/** A backup from before there were checkpoints: the table is made at the next start. */
const unlessThereIsNone = (error: unknown): void => {
  if (sqlStateOf(error) !== NO_SUCH_TABLE) throw error;
};

const firstOrigin = (baseUrl: string, org: OrgId): string => `${new URL(baseUrl).host}/ledger/${org}`;
