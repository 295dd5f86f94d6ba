import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#libs/domain/kernel';
import { parseConfig, type Config } from '#libs/infra/config';
import { redactText } from '#libs/infra/logging';
import { explain } from '../cli-error.js';
import { checkConnectors } from './connectors.check.js';
import { checkDatabase, checkDatabaseRole, checkMigrations, checkWalLevel } from './database.checks.js';
import { checkDatabaseConnectors, checkDecoderSlots } from './databases.checks.js';
import { checkEventStore } from './event-store.check.js';
import { Examination } from './examination.js';
import { CHECKS, problem, problemOf, skipped, titleOf, type CheckName, type Finding } from './finding.js';
import { checkPepper, checkSealKey, checkVaultKey } from './keys.checks.js';
import { checkActivePolicy, checkLedgerChain } from './ledger.checks.js';
import { checkDiskSpace, checkSettings, checkStateDirectory } from './machine.checks.js';
import { checkExecutions, checkProjections, checkSealing } from './progress.checks.js';
import { checkRedis } from './redis.check.js';
import { checkClockSkew, checkServerHealth, checkVersionDrift } from './server.checks.js';
import { checkWitnesses } from './witnesses.check.js';

/** Each check's time (rule OPS-4). */
const CHECK_TIMEOUT_MS = 3_000;

export interface DoctorOptions {
  readonly apiKey: string | null;
  /** Where the service is; default: what the settings say. */
  readonly url: string | undefined;
  readonly ownVersion: string;
  readonly logger: Logger;
  readonly onFinding: (check: CheckName, finding: Finding) => void;
  /** Asked before every check; what it throws ends the diagnosis. */
  readonly mayGoOn: () => void;
}

export interface Diagnosis {
  readonly findings: ReadonlyMap<CheckName, Finding>;
  readonly isKeyRefused: boolean;
}

/** What must be well before a check makes sense. */
const NEEDS: Readonly<Record<CheckName, readonly CheckName[]>> = {
  config: [],
  state_directory: ['config'],
  disk_space: ['state_directory'],
  database: ['state_directory'],
  database_role: ['database'],
  migrations: ['database'],
  wal_level: ['database'],
  event_store: ['migrations'],
  redis: ['config'],
  vault_key: ['migrations'],
  pepper: ['migrations'],
  seal_key: ['event_store', 'vault_key'],
  server_health: ['config'],
  version_drift: ['server_health'],
  clock_skew: ['database'],
  ledger_chain: ['event_store'],
  executions: ['event_store'],
  sealing: ['event_store'],
  witnesses: ['event_store'],
  projections: ['event_store'],
  active_policy: ['event_store'],
  connectors: ['migrations'],
  database_connectors: ['migrations'],
  decoder_slots: ['migrations'],
};

/** Runs every check that can be run, one after the other. Changes nothing. */
export const diagnose = async (options: DoctorOptions): Promise<Diagnosis> => {
  const findings = new Map<CheckName, Finding>();
  const found = (check: CheckName, finding: Finding): void => {
    findings.set(check, finding);
    options.onFinding(check, finding);
  };
  found('config', checkSettings());
  const config = findings.get('config')?.status === 'problem' ? null : parseConfig();
  const examination = config && new Examination(config, options.apiKey, options.logger);
  const checks = examination && checksOf(config, examination, options);
  try {
    for (const check of CHECKS.filter((name) => name !== 'config')) {
      options.mayGoOn();
      const missing = NEEDS[check].find((needed) => !isUsable(findings.get(needed)));
      if (missing !== undefined || checks === null)
        found(check, skipped(`Not checked, because of: ${titleOf(missing ?? 'config')}.`));
      else found(check, await withinItsTime(checks[check]));
    }
  } finally {
    await examination?.close();
  }
  return { findings, isKeyRefused: examination?.isKeyRefused ?? false };
};

const isUsable = (finding: Finding | undefined): boolean =>
  finding !== undefined && finding.status !== 'problem' && finding.status !== 'skipped';

const checksOf = (
  config: Config,
  examination: Examination,
  { url, ownVersion }: DoctorOptions,
): Readonly<Record<Exclude<CheckName, 'config'>, () => Promise<Finding>>> => ({
  state_directory: () => checkStateDirectory(config),
  disk_space: () => checkDiskSpace(config),
  database: () => checkDatabase(examination),
  database_role: () => checkDatabaseRole(examination),
  migrations: () => checkMigrations(examination),
  wal_level: () => checkWalLevel(examination),
  event_store: () => checkEventStore(examination),
  redis: () => checkRedis(config),
  vault_key: () => checkVaultKey(examination),
  pepper: () => checkPepper(examination),
  seal_key: () => checkSealKey(examination),
  server_health: () => checkServerHealth(examination, url),
  version_drift: () => checkVersionDrift(examination, ownVersion),
  clock_skew: () => checkClockSkew(examination),
  ledger_chain: () => checkLedgerChain(examination),
  executions: () => checkExecutions(examination),
  sealing: () => checkSealing(examination),
  witnesses: () => checkWitnesses(examination),
  projections: () => checkProjections(examination),
  active_policy: () => checkActivePolicy(examination),
  connectors: () => checkConnectors(examination),
  database_connectors: () => checkDatabaseConnectors(examination),
  decoder_slots: () => checkDecoderSlots(examination),
});

const withinItsTime = async (check: () => Promise<Finding>): Promise<Finding> => {
  const ended = new AbortController();
  const tooLate = async (): Promise<Finding> => {
    await delay(CHECK_TIMEOUT_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    return problem(
      `It did not end within ${CHECK_TIMEOUT_MS / 1_000} s.`,
      'Look at the load of the machine, and run this again.',
    );
  };
  try {
    return await Promise.race([check().catch(findingOf), tooLate()]);
  } finally {
    ended.abort();
  }
};

/** What a check could not get past, said as every command says it. @throws what nobody foresaw */
const findingOf = (error: unknown): Finding => {
  const known = explain(error);
  if (known === null) throw error;
  return problemOf(redactText(known.message));
};
