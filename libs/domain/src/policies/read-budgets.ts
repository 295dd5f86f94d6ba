import { CURRENCY_PATTERN } from '#libs/crypto';
import { PERIOD_KINDS } from '../kernel/index.js';
import type { Report } from './diagnostics.js';
import { POLICY_LIMITS, type PolicyBudget, RULE_ID_PATTERN, type SourceBudget } from './policy-source.js';
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

export const BUDGET_FIELDS = ['id', 'match', 'period', 'max_calls', 'max_spend'] as const;
const SPEND_FIELDS = ['amount', 'currency'] as const;

/** `budgets`: what the calls that match may use up together in a period. What could not be read is reported and left out. */
export const readBudgets = (report: Report, entry: Entry | undefined): readonly SourceBudget[] => {
  if (entry === undefined) return [];
  const seen = new Set<string>();
  const items = readList(report, entry, POLICY_LIMITS.budgets) ?? [];
  return items.map((item) => readBudget(report, item, seen)).filter((budget) => budget !== null);
};

const readBudget = (report: Report, entry: Entry, seen: Set<string>): SourceBudget | null => {
  const mapping = readMapping(report, entry, BUDGET_FIELDS);
  if (mapping === null) return null;
  const idEntry = mapping.get('id');
  if (idEntry === undefined) reportMissing(report, mapping, 'id', 'Add an id such as "daily".');
  const id = idEntry === undefined ? null : readBudgetId(report, idEntry, seen);
  const match = readMatch(report, mapping.get('match'));
  const periodEntry = mapping.get('period');
  if (periodEntry === undefined) reportMissing(report, mapping, 'period', 'Add "period: day".');
  const period = periodEntry === undefined ? null : readChoice(report, periodEntry, PERIOD_KINDS);
  const calls = mapping.get('max_calls');
  const spend = mapping.get('max_spend');
  if (calls === undefined && spend === undefined) {
    reportMissing(report, mapping, 'max_calls', 'Add "max_calls: 1000", or a max_spend.');
  }
  const maxCalls = calls === undefined ? null : readInteger(report, calls, 0, Number.MAX_SAFE_INTEGER);
  const maxSpend = spend === undefined ? null : readSpend(report, spend);
  if (id === null || idEntry === undefined || period === null) return null;
  return { budget: { id, match, period, maxCalls, maxSpend }, idEntry, spendEntry: spend ?? null };
};

const readBudgetId = (report: Report, entry: Entry, seen: Set<string>): string | null => {
  const id = readPattern(
    report,
    entry,
    RULE_ID_PATTERN,
    `a lower-case name of at most ${POLICY_LIMITS.ruleIdCharacters} characters`,
  );
  if (id === null) return null;
  if (seen.has(id)) report.add('duplicate_rule_id', entry.place, `The id "${id}" is already used by another budget.`);
  seen.add(id);
  return id;
};

const readSpend = (report: Report, entry: Entry): PolicyBudget['maxSpend'] => {
  const mapping = readMapping(report, entry, SPEND_FIELDS);
  if (mapping === null) return null;
  const amountEntry = mapping.get('amount');
  if (amountEntry === undefined) {
    reportMissing(report, mapping, 'amount', 'Add the amount in the smallest unit of the currency.');
  }
  const amount = amountEntry === undefined ? null : readInteger(report, amountEntry, 0, Number.MAX_SAFE_INTEGER);
  const currencyEntry = mapping.get('currency');
  if (currencyEntry === undefined) reportMissing(report, mapping, 'currency', 'Add "currency: usd".');
  const currency =
    currencyEntry === undefined
      ? null
      : readPattern(report, currencyEntry, CURRENCY_PATTERN, 'a lower-case three-letter currency such as usd');
  return amount === null || currency === null ? null : { amount, currency };
};
