/** Every check there is, in the order of the report. */
export const CHECKS = [
  'config',
  'state_directory',
  'disk_space',
  'database',
  'database_role',
  'migrations',
  'wal_level',
  'event_store',
  'redis',
  'vault_key',
  'pepper',
  'seal_key',
  'server_health',
  'version_drift',
  'clock_skew',
  'ledger_chain',
  'executions',
  'sealing',
  'witnesses',
  'projections',
  'active_policy',
  'connectors',
  'database_connectors',
  'decoder_slots',
] as const;

export type CheckName = (typeof CHECKS)[number];

/** As a person reads it. */
export const titleOf = (check: CheckName): string => check.replaceAll('_', ' ');

/** `skipped`: it could not be looked at, because of another finding or because no service answers. */
export type FindingStatus = 'ok' | 'warning' | 'problem' | 'skipped';

/** What one check found, in one sentence. */
export interface Finding {
  readonly status: FindingStatus;
  readonly message: string;
  /** What to do; null where nothing needs doing. */
  readonly next: string | null;
}

export const ok = (message: string): Finding => ({ status: 'ok', message, next: null });
export const warning = (message: string, next: string): Finding => ({ status: 'warning', message, next });
export const problem = (message: string, next: string): Finding => ({ status: 'problem', message, next });
export const skipped = (message: string): Finding => ({ status: 'skipped', message, next: null });

/** An error's text that says what is wrong and then what to do, as those for operators do. */
export const problemOf = (text: string): Finding => {
  const [, message = text, next = ''] = /^(.*?[.:])\s+(?=[A-Z])(.*)$/s.exec(text) ?? [];
  return problem(message, next === '' ? 'Put that right and run this again.' : next);
};
