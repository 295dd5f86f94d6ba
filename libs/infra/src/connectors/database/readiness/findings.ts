import { type CheckFinding, failedCheck } from '#libs/domain/connectors';

const LISTED_MAX = 10;

/** A few of many, so that a finding stays one that a person reads. */
export const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, LISTED_MAX).join(', ');
  const more = names.length - LISTED_MAX;
  return more > 0 ? `${shown} and ${more} more` : shown;
};

/** What the owner of the database runs to mend it. */
export const bySql = (...statements: readonly string[]): string =>
  ['Have the owner of the database run:', ...statements.slice(0, LISTED_MAX)].join('\n');

export const warning = (detail: string, fix: string): CheckFinding => ({
  ...failedCheck(detail, fix),
  onlyWarns: true,
});

export const RESTART = '-- and restart the server';
export const RELOAD = 'SELECT pg_reload_conf();';
