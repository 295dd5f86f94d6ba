import { ApprovalSignatures, type SignatureCounts } from './approval-signatures.js';
import { commitmentOf } from './commitment.js';
import {
  ARGS_MEMBER,
  type DeedCommitments,
  type CommittedDeed,
  DATA_MEMBER,
  INTENT_MEMBER,
} from './deed-commitments.js';
import { DEED_VERSION } from './deed-schema.js';
import { type Digest, digestOf, isDigest } from './digest.js';
import { IntentSignatures } from './intent-signatures.js';
import {
  type DocumentLine,
  type OpenedLine,
  parsePayloadLine,
  type PayloadLine,
  payloadValue,
  type TakenLine,
  type ToldLine,
} from './payload-line.js';
import type { JsonValue } from './strict-json.js';

/**
 * How much of what the deeds stand for a bundle gives. `unproven`: what no deed names by a hash, the service's word. `not_given`:
 * what deeds stand for and no line speaks of, so that somebody may have taken it out.
 */
export interface EvidenceCounts {
  readonly given: number;
  readonly removed: number;
  readonly missing: number;
  readonly unproven: number;
  readonly not_given: number;
}

/** Where evidence is wrong: at the deed that the line names, null for a line that names none. */
export interface EvidenceFault {
  readonly reason: 'bad_evidence' | 'bad_assertion' | 'bad_intent';
  readonly seq: number | null;
}

/** Which member of an opened `admin.data_digest` names a document by its digest. */
const NAMED_BY: Readonly<Record<string, string>> = { connector_config: 'config_hash', policy_source: 'source_hash' };
const TOLD_DOCUMENTS: readonly string[] = ['connector_config', 'intent_key', 'policy_source'];

/** Where a line stands: lines of deeds, then told documents, then names. */
interface Place {
  readonly section: 1 | 2 | 3;
  readonly seq: number;
  /** Of the member in its deed; documents come after all of them. */
  readonly member: number;
  readonly name: string;
}

const BEFORE_ALL: Place = { section: 1, seq: 0, member: 0, name: '' };

const isAfter = (one: Place, other: Place): boolean => {
  if (one.section !== other.section) return one.section > other.section;
  if (one.seq !== other.seq) return one.seq > other.seq;
  return one.member === other.member ? one.name > other.name : one.member > other.member;
};

/** Judges the lines of payloads.ndjson one by one, against the deeds that were read before them. */
export class PayloadJudge {
  #place = BEFORE_ALL;
  /** The opened `admin.data_digest` of the deed at `#place.seq`. */
  #data: { readonly seq: number; readonly value: JsonValue } | null = null;
  /** Of the line that was opened last. */
  #value: JsonValue = null;
  /** The deed whose intent a line has taken: where the intent is given as well, that is one value. */
  #intentTakenAt = 0;
  /** Documents that opened data name, and the values and documents that lines spoke of. */
  #documents = 0;
  #spokenOf = 0;
  readonly #counts = { given: 0, removed: 0, missing: 0, unproven: 0 };

  readonly #signatures: ApprovalSignatures;
  readonly #intents: IntentSignatures;

  constructor(
    private readonly commitments: DeedCommitments,
    org: string,
  ) {
    this.#signatures = new ApprovalSignatures(org, commitments.removals);
    this.#intents = new IntentSignatures(org, commitments.keyChanges, commitments.firstSeq === 1);
  }

  get counts(): EvidenceCounts {
    return { ...this.#counts, not_given: this.commitments.members + this.#documents - this.#spokenOf };
  }

  get approvals(): SignatureCounts {
    const { people, asserted } = this.commitments;
    const { signed } = this.#signatures;
    return { signed, unsigned: people - asserted, unchecked: asserted - signed };
  }

  get intents(): SignatureCounts {
    const { intended, unintended } = this.commitments;
    const { signed } = this.#intents;
    return { signed, unsigned: unintended, unchecked: intended - signed };
  }

  /** What is wrong with the next line, given without its line feed, or null. */
  step(bytes: Buffer): EvidenceFault | null {
    const line = parsePayloadLine(bytes);
    if (line === null) return { reason: 'bad_evidence', seq: null };
    const fault = { reason: 'bad_evidence' as const, seq: 'seq' in line ? line.seq : null };
    const deed = 'seq' in line ? this.commitments.at(line.seq) : null;
    if ('seq' in line && deed === null) return fault;
    const place = placeOf(line, deed);
    if (place === null || !isAfter(place, this.#place) || !this.isProven(line, deed, place)) return fault;
    if (!this.isSigned(line, deed)) return { ...fault, reason: 'bad_assertion' };
    if (!this.isIntended(line, deed)) return { ...fault, reason: 'bad_intent' };
    this.#place = place;
    this.#counts[countOf(line)] += 1;
    this.speakOf(line);
    return null;
  }

  private speakOf(line: PayloadLine): void {
    if (line.kind === 'told' || line.kind === 'name') return;
    if (line.kind === 'document' && line.document === 'intent' && this.#intentTakenAt === line.seq) return;
    if (line.kind === 'taken' && line.member === INTENT_MEMBER) this.#intentTakenAt = line.seq;
    this.#documents += documentsIn(line, this.#value);
    this.#spokenOf += 1;
  }

  private isProven(line: PayloadLine, deed: CommittedDeed | null, { member }: Place): boolean {
    switch (line.kind) {
      case 'name':
        return true;
      case 'told':
        return TOLD_DOCUMENTS.includes(line.document) && isOfItsDigest(line);
      case 'document':
        return this.isNamed(line, deed) && isOfItsDigest(line);
      case 'taken':
        return deed?.commitment(member) === line.commitment;
      case 'opened':
        return deed?.commitment(member) === line.commitment && this.opens(line, deed);
    }
  }

  private opens(line: OpenedLine, deed: CommittedDeed): boolean {
    const { seq, member, salt, commitment, value } = line;
    if (member === INTENT_MEMBER || (salt === null) === (deed.v === DEED_VERSION)) return false;
    if ((salt === null ? digestOf(value) : commitmentOf(salt, value)) !== commitment) return false;
    const parsed = payloadValue(value);
    if (parsed === undefined) return false;
    this.#value = parsed;
    if (member === DATA_MEMBER) this.#data = { seq, value: parsed };
    return true;
  }

  /** Whether the opened value is no assertion, or a right one. */
  private isSigned(line: PayloadLine, deed: CommittedDeed | null): boolean {
    if (line.kind !== 'opened' || deed === null || deed.subject === null) return true;
    const { seq, member, value: bytes } = line;
    const { subject, registeredBefore } = deed;
    return this.#signatures.take({ seq, subject, member, bytes, value: this.#value }, registeredBefore) !== 'wrong';
  }

  /** Whether it is no intent, or a right one. */
  private isIntended(line: PayloadLine, deed: CommittedDeed | null): boolean {
    if (deed === null) return true;
    const { call } = deed;
    if (line.kind === 'opened') {
      if (line.member === ARGS_MEMBER && call !== null) this.#intents.takeArguments(line.seq, line.value);
      if (line.member === DATA_MEMBER) this.#intents.takeData(line.seq, this.#value);
      return true;
    }
    if (line.kind !== 'document' || line.document !== 'intent' || line.signature === null || call === null) return true;
    const { seq, signature, value: bytes } = line;
    return this.#intents.judge({ seq, call, argsDigest: plainArgs(deed), bytes, signature }) !== 'wrong';
  }

  private isNamed({ seq, document, digest, signature }: DocumentLine, deed: CommittedDeed | null): boolean {
    if (document === 'intent') {
      const index = deed?.members.indexOf(INTENT_MEMBER) ?? -1;
      return signature !== null && index >= 0 && deed?.commitment(index) === digest;
    }
    const name = NAMED_BY[document];
    const data = this.#data?.seq === seq ? this.#data.value : null;
    if (signature !== null || name === undefined || data === null || typeof data !== 'object') return false;
    return !Array.isArray(data) && Object.hasOwn(data, name) && data[name] === digest;
  }
}

/** In the first format a digest of arguments is plain, so that an intent is compared without them. */
const plainArgs = (deed: CommittedDeed): Digest | null => {
  const index = deed.members.indexOf(ARGS_MEMBER);
  return deed.v === DEED_VERSION || index < 0 ? null : deed.commitment(index);
};

/** Null for a member that the deed does not have. */
const placeOf = (line: PayloadLine, deed: CommittedDeed | null): Place | null => {
  switch (line.kind) {
    case 'name':
      return { section: 3, seq: 0, member: 0, name: `${line.type} ${line.id}` };
    case 'told':
      return { section: 2, seq: 0, member: 0, name: `${line.document} ${line.id}` };
    case 'document':
      return { section: 1, seq: line.seq, member: deed?.members.length ?? 0, name: line.document };
    case 'opened':
    case 'taken':
      return memberPlace(line, deed);
  }
};

const memberPlace = ({ seq, member }: OpenedLine | TakenLine, deed: CommittedDeed | null): Place | null => {
  const index = deed?.members.indexOf(member) ?? -1;
  return index < 0 ? null : { section: 1, seq, member: index, name: '' };
};

/** A policy is hashed as its text, everything else in its canonical form. */
const isOfItsDigest = ({ document, digest, value }: DocumentLine | ToldLine): boolean => {
  const parsed = payloadValue(value);
  if (parsed === undefined) return false;
  if (document !== 'policy_source') return digestOf(value) === digest;
  return typeof parsed === 'string' && digestOf(parsed) === digest;
};

/** How many documents a line names by their digests. */
const documentsIn = (line: PayloadLine, value: JsonValue): number => {
  if (line.kind !== 'opened' || line.member !== DATA_MEMBER) return 0;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 0;
  return Object.values(NAMED_BY).filter((name) => Object.hasOwn(value, name) && isDigest(value[name])).length;
};

const countOf = (line: PayloadLine): Exclude<keyof EvidenceCounts, 'not_given'> => {
  if (line.kind === 'taken') return line.absent;
  return line.kind === 'told' || line.kind === 'name' ? 'unproven' : 'given';
};
