import { idPattern } from '#libs/crypto';
import { ROLES } from '../kernel/index.js';
import type { Report } from './diagnostics.js';
import { DEFAULT_APPROVAL, POLICY_LIMITS, type RequiredApproval } from './policy-source.js';
import { type Entry, readBoolean, readInteger, readList, readMapping, readPattern } from './yaml-nodes.js';

const APPROVER = new RegExp(`^role:(?:${ROLES.join('|')})$|${idPattern('usr').source}`);
export const APPROVAL_FIELDS = ['approvers', 'required', 'expires_in', 'signed'] as const;
const DURATION = /^[1-9]\d{0,4}[mhd]$/;
const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { m: 60, h: 60 * 60, d: 24 * 60 * 60 };

/** `approval` of a rule: who may approve, how many must, how long they have, and whether with a passkey. What is left out is the default. */
export const readApproval = (report: Report, entry: Entry): RequiredApproval | null => {
  const mapping = readMapping(report, entry, APPROVAL_FIELDS);
  if (mapping === null) return null;
  const approvers = readApprovers(report, mapping.get('approvers'));
  const requiredEntry = mapping.get('required');
  const required =
    requiredEntry === undefined
      ? DEFAULT_APPROVAL.required
      : readInteger(report, requiredEntry, 1, POLICY_LIMITS.requiredApprovals);
  const expiresIn = mapping.get('expires_in');
  const expiresInS = expiresIn === undefined ? null : readExpiresIn(report, expiresIn);
  const signed = mapping.get('signed');
  const isSigned = signed !== undefined && readBoolean(report, signed) === true;
  if (approvers === null || required === null) return null;
  checkEnough(report, requiredEntry ?? entry, approvers, required);
  return isSigned ? { approvers, required, expiresInS, signed: true } : { approvers, required, expiresInS };
};

/** Null when not all of them could be read. */
const readApprovers = (report: Report, entry: Entry | undefined): readonly string[] | null => {
  if (entry === undefined) return DEFAULT_APPROVAL.approvers;
  const items = readList(report, entry, POLICY_LIMITS.approversPerRule);
  if (items === null) return null;
  const read = items.map((item) =>
    readPattern(
      report,
      item,
      APPROVER,
      `${ROLES.map((role) => `role:${role}`).join(', ')} or the id of a person (usr_...)`,
    ),
  );
  const approvers = read.filter((approver) => approver !== null);
  return approvers.length < read.length ? null : [...new Set(approvers)].sort();
};

/** A role holds whoever has it at the time; of people who are named, it can be known now that they are too few. */
const checkEnough = (report: Report, { place }: Entry, approvers: readonly string[], required: number): void => {
  if (approvers.length >= required || approvers.some((approver) => approver.startsWith('role:'))) return;
  const named = approvers.length === 1 ? 'One person is' : `${approvers.length} people are`;
  report.add('too_few_approvers', place, `${named} named, and ${required} must approve.`);
};

const readExpiresIn = (report: Report, entry: Entry): number | null => {
  const wanted = 'a time from 1m to 30d, such as 30m, 4h or 2d';
  const text = readPattern(report, entry, DURATION, wanted);
  if (text === null) return null;
  const seconds = Number(text.slice(0, -1)) * (SECONDS_OF_UNIT[text.slice(-1)] ?? 0);
  if (seconds >= POLICY_LIMITS.approvalExpiresInMinS && seconds <= POLICY_LIMITS.approvalExpiresInMaxS) return seconds;
  report.add('invalid_value', entry.place, `${entry.place.path} must be ${wanted}, not "${text}".`, `Write ${wanted}.`);
  return null;
};
