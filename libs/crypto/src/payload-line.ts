import { closed, matching, SchemaError, text } from './closed-schema.js';
import { type Salt, SALT_PATTERN } from './commitment.js';
import { type Digest, DIGEST_PATTERN } from './digest.js';
import { canonicalize } from './jcs.js';
import { bodyProfile, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

/** A member of a deed with the value that it stands for. `value` is JSON, byte for byte what was committed to. */
export interface OpenedLine {
  readonly kind: 'opened';
  readonly seq: number;
  /** The path in the deed: `approval.countersigned.0.reason`. */
  readonly member: string;
  readonly commitment: Digest;
  /** Null for a member of `service.deed/1`, which is a plain digest. */
  readonly salt: Salt | null;
  readonly value: Uint8Array;
}

/** A member whose value the service did not give: retention has removed it, or the service should have it and has not. */
export interface TakenLine {
  readonly kind: 'taken';
  readonly seq: number;
  readonly member: string;
  readonly commitment: Digest;
  readonly absent: 'removed' | 'missing';
}

/** What a deed, or an opened value of it, names by a plain digest. */
export interface DocumentLine {
  readonly kind: 'document';
  readonly seq: number;
  readonly document: string;
  readonly digest: Digest;
  /** Of an intent: the agent's signature, base64url. */
  readonly signature: string | null;
  readonly value: Uint8Array;
}

/** A document that no deed of the bundle names by its digest: the word of the service. */
export interface ToldLine {
  readonly kind: 'told';
  readonly document: string;
  readonly id: string;
  readonly digest: Digest;
  readonly value: Uint8Array;
}

/** How the service calls somebody or something that a deed names by its id: its word. */
export interface NameLine {
  readonly kind: 'name';
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/** A line of payloads.ndjson (docs/deed-format.md). */
export type PayloadLine = OpenedLine | TakenLine | DocumentLine | ToldLine | NameLine;

/** With its line feed. The longest value that the service keeps is a policy input of 4 MiB. */
export const MAX_PAYLOAD_LINE_BYTES = 8_388_608;

/** A result is 64 deep at most where it comes from, and stands in an object of its own. */
const MAX_VALUE_DEPTH = 128;
/** What a line may hold before its value: names and hashes, all of them ASCII. */
const MAX_HEAD_BYTES = 512;

const inner = ({ source }: RegExp): string => source.slice(1, -1);

const DIGEST = `"(${inner(DIGEST_PATTERN)})"`;
const MEMBER = '"([a-z_]{1,32}(?:\\.[a-z0-9_]{1,32}){1,3})"';
const SEQ = '([1-9][0-9]{0,15})';
const WORD = '"([a-z_]{1,32})"';

const OPENED = new RegExp(
  `^\\{"commitment":${DIGEST},"member":${MEMBER},"salt":(?:null|"(${inner(SALT_PATTERN)})"),"seq":${SEQ},"value":`,
);
const DOCUMENT = new RegExp(
  `^\\{"digest":${DIGEST},"document":${WORD},"seq":${SEQ},(?:"signature":"([A-Za-z0-9_-]{86})",)?"value":`,
);
const TOLD = new RegExp(`^\\{"digest":${DIGEST},"document":${WORD},"id":"([a-z0-9_]{1,64})","value":`);
const TAKEN = new RegExp(`^\\{"absent":"(removed|missing)","commitment":${DIGEST},"member":${MEMBER},"seq":${SEQ}\\}$`);

// Of ASCII, so that every language sorts them alike.
const nameSchema = closed({
  id: matching(/^[A-Za-z0-9_-]{1,64}$/),
  name: text(4_096),
  type: matching(/^[a-z_]{1,32}$/),
});
const NAME_PROFILE = bodyProfile({ maxBytes: 32_768, maxDepth: 1, integersOnly: true });

/** A line as its bytes, line feed included. Throws `RangeError` for one that no reader would take. */
export const encodePayloadLine = (line: PayloadLine): Buffer => {
  const bytes = Buffer.concat([...partsOf(line), Buffer.from('\n')]);
  if (bytes.length > MAX_PAYLOAD_LINE_BYTES) throw new RangeError('a line of payloads.ndjson is too long');
  if (parsePayloadLine(bytes.subarray(0, -1)) === null) throw new RangeError('a line of payloads.ndjson has no form');
  return bytes;
};

const partsOf = (line: PayloadLine): readonly Uint8Array[] => {
  switch (line.kind) {
    case 'opened': {
      const { commitment, member, salt, seq, value } = line;
      return valued({ commitment, member, salt, seq }, value);
    }
    case 'document': {
      const { digest, document, seq, signature, value } = line;
      return valued({ digest, document, seq, ...(signature === null ? {} : { signature }) }, value);
    }
    case 'told': {
      const { digest, document, id, value } = line;
      return valued({ digest, document, id }, value);
    }
    case 'taken': {
      const { absent, commitment, member, seq } = line;
      return [Buffer.from(canonicalize({ absent, commitment, member, seq }))];
    }
    case 'name': {
      const { id, name, type } = line;
      return [Buffer.from(canonicalize({ id, name, type }))];
    }
  }
};

/** `value` is the last member of every object that has it. */
const valued = (head: { readonly [member: string]: JsonValue }, value: Uint8Array): readonly Uint8Array[] => [
  Buffer.from(`${canonicalize({ ...head }).slice(0, -1)},"value":`),
  value,
  Buffer.from('}'),
];

/** The line in these bytes (without a line feed), or null for any other form. That a value is JSON is not judged here. */
export const parsePayloadLine = (bytes: Buffer): PayloadLine | null => {
  const head = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
  if (head.startsWith('{"id":')) return nameIn(bytes);
  if (head.startsWith('{"absent":')) return bytes.length > MAX_HEAD_BYTES ? null : takenIn(head);
  return openedIn(head, bytes) ?? documentIn(head, bytes) ?? toldIn(head, bytes);
};

const CLOSING_BRACE = 0x7d;

/** What stands between a head and the brace that ends the line. */
const valueBehind = (head: string, bytes: Buffer): Uint8Array | null =>
  bytes.length > head.length + 1 && bytes.at(-1) === CLOSING_BRACE ? bytes.subarray(head.length, -1) : null;

const seqIn = (text: string): number | null => (Number.isSafeInteger(Number(text)) ? Number(text) : null);

const openedIn = (head: string, bytes: Buffer): OpenedLine | null => {
  const [whole, commitment = '', member = '', salt = null, seqText = ''] = OPENED.exec(head) ?? [];
  const seq = seqIn(seqText);
  const value = whole === undefined ? null : valueBehind(whole, bytes);
  if (seq === null || value === null) return null;
  return { kind: 'opened', seq, member, commitment: commitment as Digest, salt, value };
};

const documentIn = (head: string, bytes: Buffer): DocumentLine | null => {
  const [whole, digest = '', document = '', seqText = '', signature = null] = DOCUMENT.exec(head) ?? [];
  const seq = seqIn(seqText);
  const value = whole === undefined ? null : valueBehind(whole, bytes);
  if (seq === null || value === null) return null;
  return { kind: 'document', seq, document, digest: digest as Digest, signature, value };
};

const toldIn = (head: string, bytes: Buffer): ToldLine | null => {
  const [whole, digest = '', document = '', id = ''] = TOLD.exec(head) ?? [];
  const value = whole === undefined ? null : valueBehind(whole, bytes);
  return value === null ? null : { kind: 'told', document, id, digest: digest as Digest, value };
};

const takenIn = (head: string): TakenLine | null => {
  const [, absent, commitment = '', member = '', seqText = ''] = TAKEN.exec(head) ?? [];
  const seq = seqIn(seqText);
  if (absent === undefined || seq === null) return null;
  return { kind: 'taken', seq, member, commitment: commitment as Digest, absent: absent as TakenLine['absent'] };
};

const nameIn = (bytes: Buffer): NameLine | null => {
  try {
    const value = parseStrictJson(bytes, NAME_PROFILE);
    return Buffer.from(canonicalize(value)).equals(bytes) ? { kind: 'name', ...nameSchema(value) } : null;
  } catch (error) {
    if (error instanceof StrictJsonError || error instanceof SchemaError) return null;
    throw error;
  }
};

const VALUE_PROFILE = {
  ...bodyProfile({ maxBytes: MAX_PAYLOAD_LINE_BYTES, maxDepth: MAX_VALUE_DEPTH }),
  hasLargeDoubles: true,
};

/** The value of a line; undefined where its bytes are no JSON. */
export const payloadValue = (value: Uint8Array): JsonValue | undefined => {
  try {
    return parseStrictJson(value, VALUE_PROFILE);
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined;
    throw error;
  }
};
