import { committedMembers } from './committed-members.js';
import {
  decidersOf,
  type PasskeyRemoval,
  passkeyRemovalOf,
  type SignedSubject,
  signedSubjectOf,
} from './approval-signatures.js';
import type { DeedBody } from './deed-schema.js';
import { encodeHex } from './base64url.js';
import { type Digest, digestBytes } from './digest.js';
import { CALL_RECORD_BYTES, callRecordOf, type IntentKeyChange, intentKeyChangeOf } from './intent-signatures.js';

/** What a deed commits to. `shape`: its format and the members that it has, as one text, which few deeds have their own of. */
export interface Committed {
  readonly shape: string;
  /** 32 bytes for each member; where one is that of an intent, the record of the call behind them. */
  readonly digests: Uint8Array;
  readonly subject: SignedSubject | null;
  readonly keyChange: IntentKeyChange | null;
  readonly removal: PasskeyRemoval | null;
  /** Whether it is the deed of a call. */
  readonly isCall: boolean;
  /** The people who decided, and those of them of whom it names an assertion. */
  readonly people: number;
  readonly asserted: number;
}

/** The digest of a signed intent: it is plain in both formats, and no commitment. */
export const INTENT_MEMBER = 'who.intent_hash';
export const ARGS_MEMBER = 'action.args_digest';
export const DATA_MEMBER = 'admin.data_digest';

const DIGEST_BYTES = 32;
const DIGEST_PREFIX = 'sha256:';
const CHUNK_BYTES = 1_048_576;

export const committedOf = (body: DeedBody): Committed => {
  const intent = body.who.intent_hash === null ? [] : [{ member: INTENT_MEMBER, commitment: body.who.intent_hash }];
  const members = [...intent, ...committedMembers(body)];
  const digests = new Uint8Array(bytesFor(members.length, intent.length > 0));
  members.forEach(({ commitment }, index) => {
    digests.set(digestBytes(commitment), index * DIGEST_BYTES);
  });
  if (intent.length > 0) digests.set(callRecordOf(body), members.length * DIGEST_BYTES);
  return {
    shape: [body.v, ...members.map(({ member }) => member)].join(' '),
    digests,
    subject: signedSubjectOf(body),
    keyChange: intentKeyChangeOf(body),
    removal: passkeyRemovalOf(body),
    isCall: body.kind === 'action',
    ...decidersOf(body),
  };
};

const bytesFor = (members: number, hasIntent: boolean): number =>
  members * DIGEST_BYTES + (hasIntent ? CALL_RECORD_BYTES : 0);

/** A deed of the bundle, as far as what is given with it is judged. */
export interface CommittedDeed {
  /** Its format: in the first one, digests are plain. */
  readonly v: string;
  readonly members: readonly string[];
  readonly subject: SignedSubject | null;
  /** How many deeds before it register a passkey; null where the bundle does not begin with the chain. */
  readonly registeredBefore: number | null;
  /** Of a deed that names an intent: the record of the call. */
  readonly call: Uint8Array | null;
  commitment(index: number): Digest;
}

interface Shape {
  readonly v: string;
  readonly members: readonly string[];
  readonly hasIntent: boolean;
}

/**
 * What the deeds of a bundle commit to, for whoever reads later what they stand for: 32 bytes a member and one reference a
 * deed, which is all that a check of a large bundle keeps of its deeds. Asked for in the order of `seq`.
 */
export class DeedCommitments {
  readonly #shapes = new Map<string, Shape>();
  readonly #deeds: Shape[] = [];
  readonly #chunks: Uint8Array[] = [];
  /** By index; of most deeds there is none. */
  readonly #subjects = new Map<number, SignedSubject>();
  /** Of intent keys, in the order of the deeds. */
  readonly keyChanges: IntentKeyChange[] = [];
  /** Of passkeys. */
  readonly removals: PasskeyRemoval[] = [];
  #registered = 0;
  /** Over all deeds. */
  people = 0;
  asserted = 0;
  /** Deeds that name an intent, and deeds of calls that name none. */
  intended = 0;
  unintended = 0;
  #usedBytes = CHUNK_BYTES;
  #asked = -1;
  #chunk = -1;
  #nextBytes = CHUNK_BYTES;
  #digests: Uint8Array = new Uint8Array(0);

  constructor(readonly firstSeq: number) {}

  /** The next deed. */
  add({ shape: text, digests, subject, keyChange, removal, isCall, people, asserted }: Committed): void {
    const shape = this.shapeOf(text);
    if (subject !== null) this.#subjects.set(this.#deeds.length, subject);
    if (keyChange !== null) this.keyChanges.push(keyChange);
    if (removal !== null) this.removals.push(removal);
    this.people += people;
    this.asserted += asserted;
    this.intended += Number(shape.hasIntent);
    this.unintended += Number(isCall && !shape.hasIntent);
    this.#deeds.push(shape);
    if (this.#usedBytes + digests.byteLength > CHUNK_BYTES) {
      this.#chunks.push(new Uint8Array(CHUNK_BYTES));
      this.#usedBytes = 0;
    }
    this.#chunks.at(-1)?.set(digests, this.#usedBytes);
    this.#usedBytes += digests.byteLength;
  }

  private shapeOf(text: string): Shape {
    const known = this.#shapes.get(text);
    if (known !== undefined) return known;
    const [v = '', ...members] = text.split(' ');
    const shape = { v, members, hasIntent: members.includes(INTENT_MEMBER) };
    this.#shapes.set(text, shape);
    return shape;
  }

  /** How many members all deeds have. */
  get members(): number {
    return this.#deeds.reduce((count, { members }) => count + members.length, 0);
  }

  /** The deed at `seq`; null for one that the bundle does not hold, or that is before one that was asked for. */
  at(seq: number): CommittedDeed | null {
    const index = seq - this.firstSeq;
    const shape = this.#deeds[index];
    if (shape === undefined || index < this.#asked) return null;
    while (this.#asked < index) this.advance();
    const digests = this.#digests;
    return {
      ...shape,
      subject: this.#subjects.get(index) ?? null,
      registeredBefore: this.firstSeq === 1 ? this.#registered : null,
      call: shape.hasIntent ? digests.subarray(shape.members.length * DIGEST_BYTES) : null,
      commitment: (place) => {
        const bytes = digests.subarray(place * DIGEST_BYTES, (place + 1) * DIGEST_BYTES);
        return `${DIGEST_PREFIX}${encodeHex(bytes)}` as Digest;
      },
    };
  }

  private advance(): void {
    if (this.#subjects.get(this.#asked)?.subject === 'registered') this.#registered += 1;
    this.#asked += 1;
    const { members, hasIntent } = this.#deeds[this.#asked] ?? { members: [], hasIntent: false };
    const bytes = bytesFor(members.length, hasIntent);
    if (this.#nextBytes + bytes > CHUNK_BYTES) {
      this.#chunk += 1;
      this.#nextBytes = 0;
    }
    this.#digests = this.#chunks[this.#chunk]?.subarray(this.#nextBytes, this.#nextBytes + bytes) ?? this.#digests;
    this.#nextBytes += bytes;
  }
}
