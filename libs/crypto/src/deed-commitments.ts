import { committedMembers } from './committed-members.js';
import { decidersOf, type SignedSubject, signedSubjectOf } from './approval-signatures.js';
import type { DeedBody } from './deed-schema.js';
import { encodeHex } from './base64url.js';
import { type Digest, digestBytes } from './digest.js';

/** What a deed commits to. `shape`: its format and the members that it has, as one text, which few deeds have their own of. */
export interface Committed {
  readonly shape: string;
  /** 32 bytes for each member. */
  readonly digests: Uint8Array;
  readonly subject: SignedSubject | null;
  /** The people who decided, and those of them of whom it names an assertion. */
  readonly people: number;
  readonly asserted: number;
}

/** The digest of a signed intent: it is plain in both formats, and no commitment. */
export const INTENT_MEMBER = 'who.intent_hash';

const DIGEST_BYTES = 32;
const DIGEST_PREFIX = 'sha256:';
const CHUNK_BYTES = 1_048_576;

export const committedOf = (body: DeedBody): Committed => {
  const intent = body.who.intent_hash === null ? [] : [{ member: INTENT_MEMBER, commitment: body.who.intent_hash }];
  const members = [...intent, ...committedMembers(body)];
  const digests = new Uint8Array(members.length * DIGEST_BYTES);
  members.forEach(({ commitment }, index) => {
    digests.set(digestBytes(commitment), index * DIGEST_BYTES);
  });
  return {
    shape: [body.v, ...members.map(({ member }) => member)].join(' '),
    digests,
    subject: signedSubjectOf(body),
    ...decidersOf(body),
  };
};

/** A deed of the bundle, as far as what is given with it is judged. */
export interface CommittedDeed {
  /** Its format: in the first one, digests are plain. */
  readonly v: string;
  readonly members: readonly string[];
  readonly subject: SignedSubject | null;
  /** How many deeds before it register a passkey; null where the bundle does not begin with the chain. */
  readonly registeredBefore: number | null;
  commitment(index: number): Digest;
}

interface Shape {
  readonly v: string;
  readonly members: readonly string[];
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
  #registered = 0;
  /** Over all deeds. */
  people = 0;
  asserted = 0;
  #usedBytes = CHUNK_BYTES;
  #asked = -1;
  #chunk = -1;
  #nextBytes = CHUNK_BYTES;
  #digests: Uint8Array = new Uint8Array(0);

  constructor(private readonly firstSeq: number) {}

  /** The next deed. */
  add({ shape, digests, subject, people, asserted }: Committed): void {
    if (subject !== null) this.#subjects.set(this.#deeds.length, subject);
    this.people += people;
    this.asserted += asserted;
    this.#deeds.push(this.shapeOf(shape));
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
    const shape = { v, members };
    this.#shapes.set(text, shape);
    return shape;
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
      commitment: (place) => {
        const bytes = digests.subarray(place * DIGEST_BYTES, (place + 1) * DIGEST_BYTES);
        return `${DIGEST_PREFIX}${encodeHex(bytes)}` as Digest;
      },
    };
  }

  private advance(): void {
    if (this.#subjects.get(this.#asked)?.subject === 'registered') this.#registered += 1;
    this.#asked += 1;
    const bytes = (this.#deeds[this.#asked]?.members.length ?? 0) * DIGEST_BYTES;
    if (this.#nextBytes + bytes > CHUNK_BYTES) {
      this.#chunk += 1;
      this.#nextBytes = 0;
    }
    this.#digests = this.#chunks[this.#chunk]?.subarray(this.#nextBytes, this.#nextBytes + bytes) ?? this.#digests;
    this.#nextBytes += bytes;
  }
}
