import { isPolicyOctet, octetsOfWord, wordOfOctets } from './policy-octets.js';
import { readDecimal } from './strict-text.js';
import { encodeVkey, isSameKey, parseVkey, SIGNATURE_TYPE, type Vkey, VkeyError } from './vkey.js';

/**
 * Why a policy was refused. Closed. `unterminated`: the last line has no newline, so the file may be cut. `words`: a line
 * has too few words, or too many. `signature_type`: a key that is not for a log, or not for a witness.
 */
export type TlogPolicyReason =
  | 'too_large'
  | 'octet'
  | 'unterminated'
  | 'keyword'
  | 'words'
  | 'vkey'
  | 'signature_type'
  | 'duplicate_key'
  | 'reserved_name'
  | 'duplicate_name'
  | 'undefined_name'
  | 'member_twice'
  | 'threshold'
  | 'too_many'
  | 'second_quorum'
  | 'no_quorum';

/** A policy that must not be used. `line` counts from 1; 0 is the whole file. The message holds nothing of it. */
export class TlogPolicyError extends Error {
  override readonly name = 'TlogPolicyError';

  constructor(
    readonly reason: TlogPolicyReason,
    readonly line: number,
    options?: ErrorOptions,
  ) {
    super(`policy refused: ${reason} in line ${line}`, options);
  }
}

/** A log that is trusted. Its key name is the origin of its checkpoints. */
export interface PolicyLog {
  readonly vkey: Vkey;
  readonly url: string | null;
}

/** A witness. `name` means something inside the policy only; the name that cosignatures have is the key's. */
export interface PolicyWitness {
  readonly name: string;
  readonly vkey: Vkey;
  readonly url: string | null;
}

/** A group that has witnessed what at least `threshold` of its members have. */
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

/**
 * A policy as it was read. Names are words as `wordOfOctets` gives them. No two logs and no two witnesses have one key,
 * whatever they are called; each name is a member of one group at most, so a witness counts once.
 */
export interface TlogPolicy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** The name of a witness or a group, or `none`. */
  readonly quorum: string;
}

export const NO_QUORUM = 'none';

export const MAX_POLICY_BYTES = 256 * 1024;
/** Of logs, of witnesses, and of groups. The text asks for 32. */
export const MAX_POLICY_ENTRIES = 64;

const NEWLINE = 0x0a;
const LOG_TYPES: readonly number[] = [SIGNATURE_TYPE.ed25519, SIGNATURE_TYPE.mlDsa44Cosignature];
const WITNESS_TYPES: readonly number[] = [SIGNATURE_TYPE.ed25519Cosignature, SIGNATURE_TYPE.mlDsa44Cosignature];

/** Reads a policy file. Throws `TlogPolicyError`. */
export const parsePolicy = (octets: Uint8Array): TlogPolicy => {
  if (octets.byteLength > MAX_POLICY_BYTES) throw new TlogPolicyError('too_large', 0);
  if (!octets.every(isPolicyOctet)) throw new TlogPolicyError('octet', 0);
  if (octets.byteLength > 0 && octets.at(-1) !== NEWLINE) throw new TlogPolicyError('unterminated', 0);
  const reader = new PolicyReader();
  let start = 0;
  for (let end = octets.indexOf(NEWLINE); end !== -1; end = octets.indexOf(NEWLINE, start)) {
    reader.read(wordsIn(octets.subarray(start, end)));
    start = end + 1;
  }
  return reader.policy();
};

/** White space is space and tab. A line that begins with `#` is a comment, and has no words. */
const wordsIn = (line: Uint8Array): readonly string[] => {
  const spaced = Array.from(line, (octet) => String.fromCharCode(octet)).join('');
  const words = spaced.split(/[ \t]+/).filter((word) => word !== '');
  if (words[0]?.startsWith('#') === true) return [];
  return words.map((word) => wordOfOctets(Uint8Array.from(word, (octet) => octet.charCodeAt(0))));
};

/** What the lines read so far have defined. */
class PolicyReader {
  readonly #logs: PolicyLog[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #groups: PolicyGroup[] = [];
  readonly #names = new Set<string>();
  readonly #members = new Set<string>();
  #quorum: string | null = null;
  #line = 0;

  read(words: readonly string[]): void {
    this.#line += 1;
    const [keyword, ...rest] = words;
    if (keyword === undefined) return;
    if (keyword === 'log') this.#log(rest);
    else if (keyword === 'witness') this.#witness(rest);
    else if (keyword === 'group') this.#group(rest);
    else if (keyword === 'quorum') this.#readQuorum(rest);
    else this.#refuse('keyword');
  }

  policy(): TlogPolicy {
    if (this.#quorum === null) throw new TlogPolicyError('no_quorum', 0);
    return { logs: this.#logs, witnesses: this.#witnesses, groups: this.#groups, quorum: this.#quorum };
  }

  #refuse(reason: TlogPolicyReason, options?: ErrorOptions): never {
    throw new TlogPolicyError(reason, this.#line, options);
  }

  /** `log <vkey> [<url>]` */
  #log([key, url, ...more]: readonly string[]): void {
    if (key === undefined || more.length > 0) return this.#refuse('words');
    const vkey = this.#vkey(key, LOG_TYPES, this.#logs);
    this.#logs.push({ vkey, url: url ?? null });
  }

  /** `witness <name> <vkey> [<url>]` */
  #witness([name, key, url, ...more]: readonly string[]): void {
    if (name === undefined || key === undefined || more.length > 0) return this.#refuse('words');
    const vkey = this.#vkey(key, WITNESS_TYPES, this.#witnesses);
    this.#define(name);
    this.#witnesses.push({ name, vkey, url: url ?? null });
  }

  /** `group <name> all|any|<k> <name>...` */
  #group([name, count, ...members]: readonly string[]): void {
    if (name === undefined || count === undefined || members.length === 0) return this.#refuse('words');
    if (this.#groups.length >= MAX_POLICY_ENTRIES) return this.#refuse('too_many');
    for (const member of members) {
      if (!this.#names.has(member)) return this.#refuse(member === NO_QUORUM ? 'reserved_name' : 'undefined_name');
      if (this.#members.has(member)) return this.#refuse('member_twice');
      this.#members.add(member);
    }
    const threshold = thresholdOf(count, members.length) ?? this.#refuse('threshold');
    this.#define(name);
    this.#groups.push({ name, threshold, members });
  }

  /** `quorum <name>` */
  #readQuorum([name, ...more]: readonly string[]): void {
    if (name === undefined || more.length > 0) return this.#refuse('words');
    if (this.#quorum !== null) return this.#refuse('second_quorum');
    if (name !== NO_QUORUM && !this.#names.has(name)) return this.#refuse('undefined_name');
    this.#quorum = name;
  }

  #define(name: string): void {
    if (name === NO_QUORUM) this.#refuse('reserved_name');
    if (this.#names.has(name)) this.#refuse('duplicate_name');
    this.#names.add(name);
  }

  #vkey(text: string, types: readonly number[], known: readonly { readonly vkey: Vkey }[]): Vkey {
    const vkey = this.#parseVkey(text);
    if (!types.includes(vkey.type)) return this.#refuse('signature_type');
    if (known.some((other) => isSameKey(other.vkey, vkey))) return this.#refuse('duplicate_key');
    return known.length >= MAX_POLICY_ENTRIES ? this.#refuse('too_many') : vkey;
  }

  #parseVkey(text: string): Vkey {
    try {
      return parseVkey(text);
    } catch (error) {
      if (error instanceof VkeyError) return this.#refuse('vkey', { cause: error });
      throw error;
    }
  }
}

const thresholdOf = (count: string, members: number): number | null => {
  if (count === 'any') return 1;
  if (count === 'all') return members;
  const threshold = readDecimal(count);
  return threshold !== null && threshold >= 1 && threshold <= members ? threshold : null;
};

/**
 * Writes a policy: logs, witnesses, groups, quorum, each in its order. What comes out is read back before it is given, so
 * a policy that breaks a rule throws `TlogPolicyError` as if it had been read.
 */
export const encodePolicy = ({ logs, witnesses, groups, quorum }: TlogPolicy): Uint8Array => {
  const lines = [
    ...logs.map(({ vkey, url }) => ['log', encodeVkey(vkey), ...optional(url)]),
    ...witnesses.map(({ name, vkey, url }) => ['witness', name, encodeVkey(vkey), ...optional(url)]),
    ...groups.map(({ name, threshold, members }) => ['group', name, countOf(threshold, members.length), ...members]),
    ['quorum', quorum],
  ];
  const octets = Uint8Array.from(lines.flatMap((words, index) => octetsOfLine(words, index + 1)));
  parsePolicy(octets);
  return octets;
};

const optional = (word: string | null): readonly string[] => (word === null ? [] : [word]);

const countOf = (threshold: number, members: number): string => {
  if (threshold === members) return 'all';
  return threshold === 1 ? 'any' : String(threshold);
};

/** A word with white space in it would be read as two. */
const octetsOfLine = (words: readonly string[], line: number): readonly number[] => {
  const octets = words.map((word) => (/^[^ \t\n]+$/.test(word) ? octetsOfWord(word) : null));
  return octets.flatMap((word, index) => {
    if (word === null) throw new TlogPolicyError('words', line);
    return [...word, index === octets.length - 1 ? NEWLINE : 0x20];
  });
};
