import { isMap } from 'yaml';

import { DECISION_OUTCOMES, type DecisionOutcome, WITNESS_LEVELS } from '../kernel/index.js';
import type { Report } from './diagnostics.js';
import { readApproval } from './read-approval.js';
import { readMatch } from './read-match.js';
import {
  DEFAULT_APPROVAL,
  POLICY_LIMITS,
  type RequiredApproval,
  type RuleMatch,
  type SourceRule,
} from './policy-source.js';
import { type Entry, type Mapping, readChoice, readMapping, readText, reportMissing } from './yaml-nodes.js';

export const RULE_FIELDS = ['id', 'description', 'match', 'when', 'decision', 'message', 'verify', 'approval'] as const;
const RULE_ID = /^[a-z][a-z0-9_-]*$/;

/** Null when it has no usable id: then its other fields were still checked. */
export const readRule = (policyReport: Report, entry: Entry): SourceRule | null => {
  const id = peekRuleId(entry);
  const report = id === null ? policyReport : policyReport.about(id);
  const mapping = readMapping(report, entry, RULE_FIELDS);
  if (mapping === null) return null;
  const idEntry = mapping.get('id');
  if (idEntry !== undefined && id === null) reportRuleId(report, idEntry);
  if (idEntry === undefined) reportMissing(report, mapping, 'id', 'Add an id such as "read-crm".');

  const decision = readDecision(report, mapping);
  const match = readMatch(report, mapping.get('match'));
  const rule = {
    description: readLine(report, mapping.get('description'), POLICY_LIMITS.descriptionCharacters, true),
    match,
    when: readWhen(report, mapping.get('when')),
    decision: decision ?? 'deny',
    message: readMessage(report, mapping.get('message'), decision),
    verify: readVerify(report, mapping.get('verify'), decision, match),
    approval: readTerms(report, mapping.get('approval'), decision),
  };
  return id === null || idEntry === undefined ? null : { id, idEntry, ...rule };
};

/** Read before all else, so that every finding about the rule names it. */
const peekRuleId = ({ node }: Entry): string | null => {
  const id: unknown = isMap(node) ? node.get('id') : null;
  return typeof id === 'string' && RULE_ID.test(id) && id.length <= POLICY_LIMITS.ruleIdCharacters ? id : null;
};

const reportRuleId = (report: Report, entry: Entry): void => {
  if (readText(report, entry) === null) return;
  const message = `${entry.place.path} must begin with a lower-case letter and hold at most ${POLICY_LIMITS.ruleIdCharacters} lower-case letters, digits, - and _.`;
  report.add('invalid_value', entry.place, message, 'Write an id such as "read-crm".');
};

const readDecision = (report: Report, mapping: Mapping): DecisionOutcome | null => {
  const entry = mapping.get('decision');
  if (entry === undefined) {
    reportMissing(
      report,
      mapping,
      'decision',
      'Add "decision: allow", "decision: deny" or "decision: require_approval".',
    );
    return null;
  }
  return readChoice(report, entry, DECISION_OUTCOMES);
};

/** A text that people read, without the line break that a YAML block leaves at its end. */
const readLine = (
  report: Report,
  entry: Entry | undefined,
  maxCharacters: number,
  mayBreak: boolean,
): string | null => {
  if (entry === undefined) return null;
  const written = readText(report, entry);
  if (written === null) return null;
  const text = written.trim();
  const isFitting = text !== '' && [...text].length <= maxCharacters && (mayBreak || !text.includes('\n'));
  if (isFitting) return text;
  const lines = mayBreak ? '' : 'one line of ';
  const message = `${entry.place.path} must be ${lines}1 to ${maxCharacters} characters.`;
  report.add('invalid_value', entry.place, message, 'Shorten the text, or leave the field out.');
  return null;
};

const readWhen = (report: Report, entry: Entry | undefined): SourceRule['when'] => {
  if (entry === undefined) return null;
  const text = readText(report, entry);
  if (text === null) return null;
  if (text.trim() !== '') return { text, entry };
  report.add(
    'invalid_value',
    entry.place,
    `${entry.place.path} is empty.`,
    'Write a condition, or leave the field out.',
  );
  return null;
};

const readMessage = (report: Report, entry: Entry | undefined, decision: DecisionOutcome | null): string | null => {
  const message = readLine(report, entry, POLICY_LIMITS.messageCharacters, false);
  if (entry === undefined || decision === null || decision === 'deny') return message;
  const sentence = 'Only a rule with "decision: deny" has a message: it is what the agent reads when it is refused.';
  report.add('misplaced_field', entry.keyPlace, sentence);
  return null;
};

const readVerify = (
  report: Report,
  entry: Entry | undefined,
  decision: DecisionOutcome | null,
  match: RuleMatch,
): SourceRule['verify'] => {
  if (entry === undefined) return null;
  const level = readChoice(report, entry, WITNESS_LEVELS);
  if (decision === 'deny') {
    report.add('misplaced_field', entry.keyPlace, 'A rule that denies runs nothing that could be verified.');
    return null;
  }
  if ((level === 'L1' || level === 'L2') && isNeverConfirmed(match)) {
    report.add('level_never_met', entry.place, NEVER_CONFIRMED[level]);
  }
  return level;
};

const NEVER_CONFIRMED = {
  L1: 'Only tools that write, run by the service, are read back. The rule matches none of them, so no witness of its calls reaches L1.',
  L2: 'Only tools that write, run by the service, are in a change log. The rule matches none of them, so no witness of its calls reaches L2.',
} as const;

/** Whether no call that the rule is about can be confirmed by a read or a change log, whatever its connector. */
const isNeverConfirmed = ({ sideEffect, mode }: RuleMatch): boolean =>
  (sideEffect !== null && sideEffect.every((effect) => effect === 'read')) ||
  (mode !== null && !mode.includes('gateway'));

const readTerms = (
  report: Report,
  entry: Entry | undefined,
  decision: DecisionOutcome | null,
): RequiredApproval | null => {
  const isAsked = decision === 'require_approval';
  if (entry === undefined) return isAsked ? DEFAULT_APPROVAL : null;
  const terms = readApproval(report, entry);
  if (isAsked || decision === null) return terms;
  const message = `A rule with "decision: ${decision}" asks nobody for an approval.`;
  report.add('misplaced_field', entry.keyPlace, message, 'Remove the field.');
  return null;
};
