import { isMap } from 'yaml';

import type { Report } from './diagnostics.js';
import { checkApproval } from './read-budgets.js';
import { readMatch } from './read-match.js';
import { POLICY_LIMITS, type SourceRule } from './policy-source.js';
import { type Entry, type Mapping, readChoice, readMapping, readText, reportMissing } from './yaml-nodes.js';

// Known and offered are two things: a finding never sends anybody to what a policy cannot be saved with yet.
const OFFERED_FIELDS = ['id', 'description', 'match', 'when', 'decision', 'message', 'verify'];
const RULE_FIELDS = [...OFFERED_FIELDS, 'approval'];
const DECISIONS = ['allow', 'deny', 'require_approval'] as const;
const OFFERED_DECISIONS = ['allow', 'deny'] as const;
const LEVELS = ['L0', 'L1', 'L2'] as const;
const OFFERED_LEVELS = ['L0'] as const;
const RULE_ID = /^[a-z][a-z0-9_-]*$/;

type Decision = (typeof DECISIONS)[number];

/** Null when it has no usable id: then its other fields were still checked. */
export const readRule = (policyReport: Report, entry: Entry): SourceRule | null => {
  const id = peekRuleId(entry);
  const report = id === null ? policyReport : policyReport.about(id);
  const mapping = readMapping(report, entry, RULE_FIELDS, OFFERED_FIELDS);
  if (mapping === null) return null;
  const idEntry = mapping.get('id');
  if (idEntry !== undefined && id === null) reportRuleId(report, idEntry);
  if (idEntry === undefined) reportMissing(report, mapping, 'id', 'Add an id such as "read-crm".');

  const decision = readDecision(report, mapping);
  const rule = {
    description: readLine(report, mapping.get('description'), POLICY_LIMITS.descriptionCharacters, true),
    match: readMatch(report, mapping.get('match')),
    when: readWhen(report, mapping.get('when')),
    decision: decision === 'allow' ? ('allow' as const) : ('deny' as const),
    message: readMessage(report, mapping.get('message'), decision),
    verify: readVerify(report, mapping.get('verify'), decision),
  };
  checkApprovalField(report, mapping.get('approval'), decision);
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

const readDecision = (report: Report, mapping: Mapping): Decision | null => {
  const entry = mapping.get('decision');
  if (entry === undefined) {
    reportMissing(report, mapping, 'decision', 'Add "decision: allow" or "decision: deny".');
    return null;
  }
  const decision = readChoice(report, entry, DECISIONS, OFFERED_DECISIONS);
  if (decision === 'require_approval') {
    report.add('not_supported_yet', entry.place, 'Approvals are not available in this version of the service.');
  }
  return decision;
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

const readMessage = (report: Report, entry: Entry | undefined, decision: Decision | null): string | null => {
  const message = readLine(report, entry, POLICY_LIMITS.messageCharacters, false);
  if (entry === undefined || decision === null || decision === 'deny') return message;
  const sentence = 'Only a rule with "decision: deny" has a message: it is what the agent reads when it is refused.';
  report.add('misplaced_field', entry.keyPlace, sentence);
  return null;
};

const readVerify = (report: Report, entry: Entry | undefined, decision: Decision | null): 'L0' | null => {
  if (entry === undefined) return null;
  const level = readChoice(report, entry, LEVELS, OFFERED_LEVELS);
  if (decision === 'deny') {
    report.add('misplaced_field', entry.keyPlace, 'A rule that denies runs nothing that could be verified.');
    return null;
  }
  if (level === null || level === 'L0') return level;
  const message = `Verification at ${level} is not available in this version of the service.`;
  report.add('not_supported_yet', entry.place, message, 'Write "verify: L0", the tool’s own answer, or leave it out.');
  return null;
};

const checkApprovalField = (report: Report, entry: Entry | undefined, decision: Decision | null): void => {
  if (entry === undefined) return;
  checkApproval(report, entry);
  if (decision === null || decision === 'require_approval') return;
  const message = `A rule with "decision: ${decision}" asks nobody for an approval.`;
  report.add('misplaced_field', entry.keyPlace, message, 'Remove the field.');
};
