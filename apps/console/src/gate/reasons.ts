/** Why a change log does not verify a call, in words. A test holds the list against its owner, the gate's verdicts. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  transaction_missing: 'The log does not show the transaction of this call, or shows another one in its place.',
  row_count: 'The log shows other numbers of rows than were counted when the call ran.',
  unexpected_table: 'Rows of a table were changed that neither the statement nor the configuration names.',
  unexpected_kind: 'A named table was changed in another way than the statement says.',
  truncated: 'A table was truncated, and the statement does not say so.',
  expectation: 'The extra check of the tool does not hold for what the log shows.',
  slot_lagging: 'The log is read too far behind to show the transaction in time.',
  slot_invalidated: 'The database has dropped the part of its log that would show the transaction.',
  decoder_down: 'Nobody reads the log of the database.',
  no_replica_identity: 'The log does not hold which rows of a table were changed: it is not published, or has no key.',
  log_restored: 'The database was restored or has failed over, so that its log does not show what was before.',
  timeout: 'The log did not show the transaction in time. What it shows later amends this verdict.',
};

/** The words for a reason; null for one that is not of a change log. */
export const reasonInWords = (reason: string, verdict: string): string | null => {
  if (reason === 'expectation' && verdict === 'UNVERIFIABLE')
    return 'The extra check of the tool has no answer for what the log shows.';
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason] ?? null) : null;
};
