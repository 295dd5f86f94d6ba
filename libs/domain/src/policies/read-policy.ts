import { DECISION_OUTCOMES } from '../kernel/index.js';
import type { Report } from './diagnostics.js';
import { readBudgets } from './read-budgets.js';
import { readRule } from './read-rule.js';
import { POLICY_LIMITS, type SourcePolicy, type SourceRule } from './policy-source.js';
import { type Entry, readChoice, readInteger, readList, readMapping, reportMissing } from './yaml-nodes.js';

export const LANGUAGE_VERSION = 1;

export const POLICY_FIELDS = ['version', 'default', 'rules', 'budgets'] as const;

/** The whole policy. What could not be read is reported and stands with a harmless value: nothing is kept of a source with errors. */
export const readPolicy = (report: Report, entry: Entry): SourcePolicy | null => {
  const mapping = readMapping(report, entry, POLICY_FIELDS);
  if (mapping === null) return null;
  const version = mapping.get('version');
  if (version === undefined) reportMissing(report, mapping, 'version', 'Add "version: 1" as the first line.');
  else checkVersion(report, version);
  const defaultEntry = mapping.get('default');
  if (defaultEntry === undefined) {
    reportMissing(report, mapping, 'default', 'Add "default: deny", so that what no rule allows is refused.');
  }
  return {
    defaultOutcome:
      defaultEntry === undefined ? 'deny' : (readChoice(report, defaultEntry, DECISION_OUTCOMES) ?? 'deny'),
    rules: readRules(report, mapping.get('rules')),
    budgets: readBudgets(report, mapping.get('budgets')),
  };
};

const checkVersion = (report: Report, entry: Entry): void => {
  const version = readInteger(report, entry, 0, Number.MAX_SAFE_INTEGER);
  if (version === null || version === LANGUAGE_VERSION) return;
  const message = `Version ${version} of the policy language does not exist here.`;
  report.add('unsupported_version', entry.place, message);
};

const readRules = (report: Report, entry: Entry | undefined): readonly SourceRule[] => {
  if (entry === undefined) return [];
  const items = readList(report, entry, POLICY_LIMITS.rules) ?? [];
  const rules: SourceRule[] = [];
  const seen = new Map<string, string>();
  for (const item of items) {
    const rule = readRule(report, item);
    if (rule === null) continue;
    const first = seen.get(rule.id);
    if (first !== undefined) {
      const message = `The id "${rule.id}" is already used by ${first}.`;
      report.about(rule.id).add('duplicate_rule_id', rule.idEntry.place, message);
    }
    seen.set(rule.id, first ?? item.place.path);
    rules.push(rule);
  }
  return rules;
};
