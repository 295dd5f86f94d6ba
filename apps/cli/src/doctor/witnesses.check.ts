import type { OrgId } from '#libs/domain/kernel';
import type { WitnessLag, WitnessWatch } from '#libs/domain/ledger';
import type { Examination } from './examination.js';
import { ok, warning, type Finding } from './finding.js';
import { isTableThere } from './progress.checks.js';

/** What is left of a check's time is for saying how far it came. */
const TIME_MS = 2_400;

/** Whether the witnesses of ledgers keep up, by what the overview tells of one organization (`ledger_unwitnessed`). */
export const checkWitnesses = async (examination: Examination): Promise<Finding> => {
  const timeIsOver = AbortSignal.timeout(TIME_MS);
  const watch = await watchOf(examination);
  const late: LateLedger[] = [];
  let isComplete = true;
  for (const { org } of watch === null ? [] : await examination.organizations()) {
    isComplete = !timeIsOver.aborted;
    if (!isComplete) break;
    const lag = await watch?.overdue(org);
    if (lag) late.push({ org, lag });
  }
  const [first] = late;
  const unknownTo = (first && (await watch?.unintroduced(first.org))) ?? [];
  return judgeWitnesses({
    late,
    isComplete,
    unknownTo: unknownTo.map(({ name }) => name),
    isWorkerThere: await examination.isConnected('worker', 'standalone'),
  });
};

/** Null where the database has not the table of their standings yet, which is a finding of its own. */
const watchOf = async (examination: Examination): Promise<WitnessWatch | null> => {
  const { checkpointKeyDecider, CheckpointJournal, LedgerReader, witnessPolicyDecider, WitnessWatch } =
    await import('#libs/domain/ledger');
  const { ONLY_STREAM, streamRef } = await import('#libs/domain/kernel');
  const { PostgresWitnessStandings } = await import('#libs/infra/ledger');
  const { SystemClock } = await import('#libs/infra/runtime');
  const { pool, store, streams } = await examination.database();
  if (!(await isTableThere(pool, 'ledger.witness_standings'))) return null;
  return new WitnessWatch({
    policies: { of: async (org) => (await streams.load(streamRef(witnessPolicyDecider, org))).state },
    standings: new PostgresWitnessStandings(pool),
    journal: new CheckpointJournal(store),
    ledger: new LedgerReader(store),
    keys: { list: async () => (await streams.load(streamRef(checkpointKeyDecider, ONLY_STREAM))).state },
    clock: new SystemClock(),
  });
};

interface LateLedger {
  readonly org: OrgId;
  readonly lag: WitnessLag;
}

export interface WitnessesState {
  /** Ledgers of which a deed has waited for the quorum for too long. */
  readonly late: readonly LateLedger[];
  /** Whether those are all. */
  readonly isComplete: boolean;
  /** Witnesses that do not know the first of them. */
  readonly unknownTo: readonly string[];
  /** A process that asks witnesses is connected to the database. */
  readonly isWorkerThere: boolean;
}

export const judgeWitnesses = ({ late, isComplete, unknownTo, isWorkerThere }: WitnessesState): Finding => {
  const [first] = late;
  if (!first) {
    return isComplete
      ? ok('No deed has waited for the witnesses of its ledger for an hour.')
      : warning('Not every ledger could be looked at in time.', 'Look at the load of the machine, and run this again.');
  }
  const { org, lag } = first;
  const more = late.length === 1 ? '' : ` (and of ${late.length - 1} more)`;
  const count = (deeds: number): string => deeds.toLocaleString('en');
  return warning(
    `Too few witnesses have cosigned the ledger of ${org}${more}: ${count(lag.size)} of its ${count(lag.sealed)} deeds ` +
      `are witnessed, and the next one waits since ${lag.since}.`,
    nextOf(org, unknownTo, isWorkerThere),
  );
};

const nextOf = (org: OrgId, unknownTo: readonly string[], isWorkerThere: boolean): string => {
  if (!isWorkerThere) {
    return 'Start a worker (`npm run start:worker`), or the whole service (`npm start`): it asks the witnesses.';
  }
  if (unknownTo.length > 0) {
    return `Give whoever runs ${unknownTo.join(', ')} the key that \`npm run ags -- ledger vkey --org ${org}\` prints: it is not known there.`;
  }
  return `\`npm run ags -- ledger witnesses get --org ${org}\` says how each stands. Tell who runs one that fails, or ask another one.`;
};
