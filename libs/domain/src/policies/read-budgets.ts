import type { Report } from './diagnostics.js';
import { POLICY_LIMITS } from './policy-source.js';
import { readMatch } from './read-match.js';
import {
  type Entry,
  readChoice,
  readInteger,
  readList,
  readMapping,
  readPattern,
  reportMissing,
} from './yaml-nodes.js';

/**
 * A part of the grammar that this version knows and does not enforce yet. Its shape is checked all the same, so that a
 * policy written for it can be linted; one that uses it is never saved.
 */

const BUDGETS_MAX = 100;
const BUDGET_ID = /^[a-z][a-z0-9_-]{0,63}$/;
const CURRENCY = /^[a-z]{3}$/;
const PERIODS = ['hour', 'day', 'week', 'month'] as const;

/** `budgets`: what agents may do and spend in a period. */
export const checkBudgets = (report: Report, entry: Entry): void => {
  report.add('not_supported_yet', entry.keyPlace, 'Budgets are not available in this version of the service.');
  const seen = new Set<string>();
  for (const item of readList(report, entry, BUDGETS_MAX) ?? []) checkBudget(report, item, seen);
};

const checkBudget = (report: Report, entry: Entry, seen: Set<string>): void => {
  const mapping = readMapping(report, entry, ['id', 'match', 'period', 'max_calls', 'max_spend']);
  if (mapping === null) return;
  const id = mapping.get('id');
  if (id === undefined) reportMissing(report, mapping, 'id', 'Add an id such as "daily".');
  else checkBudgetId(report, id, seen);
  readMatch(report, mapping.get('match'));
  const period = mapping.get('period');
  if (period === undefined) reportMissing(report, mapping, 'period', 'Add "period: day".');
  else readChoice(report, period, PERIODS);
  const calls = mapping.get('max_calls');
  const spend = mapping.get('max_spend');
  if (calls !== undefined) readInteger(report, calls, 0, Number.MAX_SAFE_INTEGER);
  if (spend !== undefined) checkSpend(report, spend);
  if (calls === undefined && spend === undefined) {
    reportMissing(report, mapping, 'max_calls', 'Add "max_calls: 1000", or a max_spend.');
  }
};

const checkBudgetId = (report: Report, entry: Entry, seen: Set<string>): void => {
  const id = readPattern(
    report,
    entry,
    BUDGET_ID,
    `a lower-case name of at most ${POLICY_LIMITS.ruleIdCharacters} characters`,
  );
  if (id === null) return;
  if (seen.has(id)) report.add('duplicate_rule_id', entry.place, `The id "${id}" is already used by another budget.`);
  seen.add(id);
};

const checkSpend = (report: Report, entry: Entry): void => {
  const mapping = readMapping(report, entry, ['amount', 'currency']);
  if (mapping === null) return;
  const amount = mapping.get('amount');
  if (amount === undefined)
    reportMissing(report, mapping, 'amount', 'Add the amount in the smallest unit of the currency.');
  else readInteger(report, amount, 0, Number.MAX_SAFE_INTEGER);
  const currency = mapping.get('currency');
  if (currency === undefined) reportMissing(report, mapping, 'currency', 'Add "currency: usd".');
  else readPattern(report, currency, CURRENCY, 'a lower-case three-letter currency such as usd');
};
