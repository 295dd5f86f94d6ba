import type { Report } from './diagnostics.js';
import { POLICY_LIMITS } from './policy-source.js';
import { readMatch } from './read-match.js';
import {
  type Entry,
  quoted,
  readChoice,
  readInteger,
  readList,
  readMapping,
  readText,
  reportMissing,
} from './yaml-nodes.js';

/**
 * The parts of the grammar that this version knows and does not enforce yet. Their shape is checked all the same, so
 * that a policy written for them can be linted; one that uses them is never saved.
 */

const APPROVERS_MAX = 16;
const REQUIRED_MAX = 10;
const APPROVER = /^(role:(admin|owner)|user:usr_[0-7][0-9a-hjkmnp-tv-z]{25})$/;
const DURATION = /^[1-9]\d{0,3}[mhd]$/;

/** `approval` of a rule: who may approve, how many must, and how long they have. */
export const checkApproval = (report: Report, entry: Entry): void => {
  const mapping = readMapping(report, entry, ['approvers', 'required', 'expires_in']);
  if (mapping === null) return;
  const approvers = mapping.get('approvers');
  if (approvers === undefined) reportMissing(report, mapping, 'approvers', 'Add a list such as "- role:admin".');
  else checkApprovers(report, approvers);
  const required = mapping.get('required');
  if (required !== undefined) readInteger(report, required, 1, REQUIRED_MAX);
  const expiresIn = mapping.get('expires_in');
  if (expiresIn !== undefined) checkText(report, expiresIn, DURATION, 'a time such as 30m, 4h or 2d');
};

const checkApprovers = (report: Report, entry: Entry): void => {
  for (const item of readList(report, entry, APPROVERS_MAX) ?? []) {
    checkText(report, item, APPROVER, 'role:admin, role:owner or user:usr_...');
  }
};

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
  const id = checkText(
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
  else checkText(report, currency, CURRENCY, 'a lower-case three-letter currency such as usd');
};

const checkText = (report: Report, entry: Entry, pattern: RegExp, wanted: string): string | null => {
  const text = readText(report, entry);
  if (text === null || pattern.test(text)) return text;
  report.add(
    'invalid_value',
    entry.place,
    `${entry.place.path} must be ${wanted}, not "${quoted(text)}".`,
    `Write ${wanted}.`,
  );
  return null;
};
