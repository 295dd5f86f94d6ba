import {
  ApprovalSignatures,
  callRecordOf,
  DEED_VERSION,
  type DeedBody,
  type DocumentLine,
  type IntentKeyChange,
  intentKeyChangeOf,
  IntentSignatures,
  type OpenedLine,
  type PasskeyRemoval,
  passkeyRemovalOf,
  type PayloadLine,
  payloadValue,
  type SignedSubject,
  signedSubjectOf,
} from '#libs/crypto';
import type { BundleEvidence } from './bundle-evidence.js';

/** Says of the assertions and the intents of these deeds which of them are right. All deeds are met before the first line. */
export class ReadSignatures {
  private readonly subjects = new Map<number, SignedSubject>();
  private readonly calls = new Map<number, DeedBody>();
  private readonly changes = new Map<number, IntentKeyChange>();
  private readonly removals: PasskeyRemoval[] = [];
  private approvals: ApprovalSignatures | null = null;
  private intents: IntentSignatures | null = null;
  private org = '';

  constructor(private readonly evidence: BundleEvidence) {}

  meet(deed: DeedBody): void {
    this.org = deed.org;
    const subject = signedSubjectOf(deed);
    if (subject !== null) this.subjects.set(deed.seq, subject);
    const change = intentKeyChangeOf(deed);
    if (change !== null) this.changes.set(deed.seq, change);
    const removal = passkeyRemovalOf(deed);
    if (removal !== null) this.removals.push(removal);
    if (deed.who.intent_hash !== null) this.calls.set(deed.seq, deed);
  }

  take(line: PayloadLine): void {
    // What is wrong was found before: a bundle is read after it was verified, so no more is asked than what is right.
    this.approvals ??= new ApprovalSignatures(this.org, this.removals);
    this.intents ??= new IntentSignatures(this.org, [...this.changes.values()], false);
    if (line.kind === 'opened') this.takeOpened(line, this.approvals, this.intents);
    if (line.kind === 'document' && line.document === 'intent') this.takeIntent(line, this.intents);
  }

  private takeOpened(line: OpenedLine, approvals: ApprovalSignatures, intents: IntentSignatures): void {
    const { seq, member, value: bytes } = line;
    if (member === 'action.args_digest' && this.calls.has(seq)) intents.takeArguments(seq, bytes);
    const subject = this.subjects.get(seq);
    const isChange = member === 'admin.data_digest' && this.changes.has(seq);
    if (subject === undefined && !isChange) return;
    const value = payloadValue(bytes) ?? null;
    if (isChange) intents.takeData(seq, value);
    if (subject === undefined) return;
    const judged = approvals.take({ seq, subject, member, bytes, value }, null);
    if (judged === 'right') this.evidence.check(seq, member);
  }

  private takeIntent({ seq, signature, value: bytes }: DocumentLine, intents: IntentSignatures): void {
    const deed = this.calls.get(seq);
    if (deed === undefined || signature === null) return;
    const argsDigest = deed.v === DEED_VERSION ? null : (deed.action?.args_digest ?? null);
    const judged = intents.judge({ seq, call: callRecordOf(deed), argsDigest, bytes, signature });
    if (judged === 'right') this.evidence.check(seq, 'who.intent_hash');
  }
}
