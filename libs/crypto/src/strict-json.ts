import { isUtf8 } from 'node:buffer';

/** A JSON value. Objects that came from bytes have no prototype: `__proto__` is a member like any other. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Read members with `Object.hasOwn` or by name; never assume `Object.prototype` behind it. */
export interface JsonObject {
  [member: string]: JsonValue;
}

/** Why bytes were refused. Closed: a caller may switch over it. */
export type StrictJsonReason =
  | 'too_large'
  | 'utf8'
  | 'syntax'
  | 'depth'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'big_int'
  | 'number_range'
  | 'fraction';

/** Member names and array indexes from the root to a value. */
export type JsonPath = readonly (string | number)[];

/**
 * The one error of the parser. `offset` is the byte where reading stopped (for a key or a string, its opening quote);
 * `path` names the value that was being read, as far as it was known. The message holds no input.
 */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';

  constructor(
    readonly reason: StrictJsonReason,
    readonly offset: number,
    readonly path: JsonPath = [],
  ) {
    super(`JSON refused: ${reason} at byte ${offset}`);
  }
}

/**
 * What a place in the interface accepts.
 * `maxBytes`: bytes of the whole text. `maxDepth`: containers inside each other, the outermost counts as 1.
 * `integersOnly`: a number whose value is no integer is refused as `fraction`, and one beyond 2^53-1 as `big_int`
 * however it is spelled; `1.0` and `1e3` are integers in a second spelling, which a canonical form then refuses.
 */
export interface JsonProfile {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly integersOnly: boolean;
  /** An integer beyond 2^53-1 is the double that it spells, and not refused as `big_int`: {@link RECORDED_INPUT_PROFILE}. */
  readonly hasLargeDoubles?: boolean;
}

/** Of signed intents: at most 2,048 bytes, integers only, shallow nesting (the format itself is flat). */
export const INTENT_PROFILE: JsonProfile = { maxBytes: 2_048, maxDepth: 4, integersOnly: true };

/** Of the arguments of a call (rule FORM-7): depth 32, 256 KiB, fractions and exponents as IEEE-754 doubles. */
export const ARGS_PROFILE: JsonProfile = { maxBytes: 262_144, maxDepth: 32, integersOnly: false };

/**
 * Arguments that were accepted, and what the gate writes around them. RFC 8785 writes the double `1e17` as
 * 100000000000000000, which a caller may not send; what was accepted can be read again all the same.
 */
export const RECORDED_INPUT_PROFILE: JsonProfile = {
  maxBytes: 4 * 1024 * 1024,
  maxDepth: 40,
  integersOnly: false,
  hasLargeDoubles: true,
};

/** The profile of a request body; a route says how large and how deep. */
export const bodyProfile = (limits: { maxBytes: number; maxDepth: number; integersOnly?: boolean }): JsonProfile => ({
  maxBytes: limits.maxBytes,
  maxDepth: limits.maxDepth,
  integersOnly: limits.integersOnly ?? false,
});

/**
 * Reads one JSON text (RFC 8259) under a profile, or throws `StrictJsonError`.
 *
 * Stricter than `JSON.parse`: invalid UTF-8 is refused instead of replaced, a byte order mark is a syntax error, a
 * repeated member (also one spelled through escapes) is refused, an escaped lone surrogate is refused, an integer
 * beyond 2^53-1 is refused instead of rounded, a number that overflows a double is refused instead of made infinite,
 * and -0 is 0. Nesting costs heap and no stack, so no input can raise a RangeError.
 */
export const parseStrictJson = (bytes: Uint8Array, profile: JsonProfile): JsonValue => {
  const pieces = strictJsonInPieces(bytes, profile);
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
};

/** Values between two turns of others: a few milliseconds, also where each is a member of one large object. */
const PIECE_VALUES = 4_096;

/**
 * The same, with a pause after each {@link PIECE_VALUES} values: for a process that answers others meanwhile. The bytes
 * must not change until the end.
 */
export function* strictJsonInPieces(bytes: Uint8Array, profile: JsonProfile): Generator<void, JsonValue> {
  if (bytes.byteLength > profile.maxBytes) throw new StrictJsonError('too_large', profile.maxBytes);
  if (!isUtf8(bytes)) throw new StrictJsonError('utf8', firstInvalidByte(bytes));
  const tokenizer = new Tokenizer(bytes, profile);
  for (;;) {
    const value = tokenizer.read(PIECE_VALUES);
    if (value !== undefined) return value;
    yield;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_PRINTABLE = 0x20;
const END = -1;

/** Integers of up to 15 digits are exact in a double; longer ones need a comparison. */
const ALWAYS_SAFE_DIGITS = 15;

type Container = JsonValue[] | JsonObject;

/** An open container and, for an object, the member whose value is being read. */
interface Frame {
  readonly container: Container;
  member: string;
}

class Tokenizer {
  private readonly bytes: Buffer;
  private position = 0;
  private readonly open: Frame[] = [];

  constructor(
    source: Uint8Array,
    private readonly profile: JsonProfile,
  ) {
    // A view, not a copy: Buffer reads text out of a byte range without an intermediate array.
    this.bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  }

  /** The whole value, or undefined where so many values were read and there are more: ask again. */
  read(valuesMax: number): JsonValue | undefined {
    for (let values = 0; values < valuesMax; values += 1) {
      let value = this.readValueOrOpen();
      // A container that has just been opened is undefined here: its first value was not read yet.
      while (value !== undefined) {
        const frame = this.open.at(-1);
        if (frame === undefined) return this.finish(value);
        store(frame, value);
        value = this.continueContainer(frame);
      }
    }
    return undefined;
  }

  private finish(value: JsonValue): JsonValue {
    this.skipSpace();
    if (this.position !== this.bytes.length) throw this.refuse('syntax');
    return value;
  }

  /** Reads a scalar or an empty container; opens any other container and returns undefined. */
  private readValueOrOpen(): JsonValue | undefined {
    this.skipSpace();
    const byte = this.peek();
    if (byte === QUOTE) return this.readString();
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return this.openContainer(byte);
    if (byte === MINUS || isDigit(byte)) return this.readNumber();
    return this.readLiteral();
  }

  private openContainer(byte: number): JsonValue | undefined {
    const container: Container = byte === OPEN_ARRAY ? [] : (Object.create(null) as JsonObject);
    if (this.open.length >= this.profile.maxDepth) throw this.refuse('depth');
    this.position += 1;
    this.skipSpace();
    if (this.peek() === (byte === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.position += 1;
      return container;
    }
    const frame: Frame = { container, member: '' };
    this.open.push(frame);
    if (byte === OPEN_OBJECT) this.readMember(frame);
    return undefined;
  }

  /** After a value: a comma leads to the next one (undefined), a closing bracket gives the whole container. */
  private continueContainer(frame: Frame): JsonValue | undefined {
    this.skipSpace();
    const byte = this.peek();
    if (byte === COMMA) {
      this.position += 1;
      if (!Array.isArray(frame.container)) {
        this.skipSpace();
        this.readMember(frame);
      }
      return undefined;
    }
    if (byte !== (Array.isArray(frame.container) ? CLOSE_ARRAY : CLOSE_OBJECT)) throw this.refuse('syntax');
    this.position += 1;
    this.open.pop();
    return frame.container;
  }

  private readMember(frame: Frame): void {
    if (this.peek() !== QUOTE) throw this.refuse('syntax');
    const start = this.position;
    const member = this.readString();
    frame.member = member;
    // The container has no prototype, so `in` sees members only, `__proto__` and `constructor` included.
    if (member in frame.container) throw this.refuse('duplicate_key', start);
    this.skipSpace();
    if (this.peek() !== COLON) throw this.refuse('syntax');
    this.position += 1;
  }

  private readString(): string {
    const start = this.position;
    let at = start + 1;
    let isPlain = true;
    for (;;) {
      const byte = at < this.bytes.length ? (this.bytes[at] as number) : END;
      if (byte === QUOTE) break;
      if (byte < FIRST_PRINTABLE) throw this.refuse('syntax', at);
      if (byte === BACKSLASH) {
        isPlain = false;
        at += this.escapeLength(at);
      } else {
        at += 1;
      }
    }
    this.position = at + 1;
    if (isPlain) return this.bytes.toString('utf8', start + 1, at);
    // Every escape was checked above, so JSON.parse only decodes: the grammar stays ours.
    const text = JSON.parse(this.bytes.toString('utf8', start, at + 1)) as string;
    if (!text.isWellFormed()) throw this.refuse('lone_surrogate', start);
    return text;
  }

  private escapeLength(at: number): number {
    switch (this.bytes[at + 1]) {
      case 0x22: // "
      case 0x5c: // \
      case 0x2f: // /
      case 0x62: // b
      case 0x66: // f
      case 0x6e: // n
      case 0x72: // r
      case 0x74: // t
        return 2;
      case 0x75: // u
        for (let digit = at + 2; digit < at + 6; digit += 1) {
          if (!isHexDigit(this.bytes[digit] ?? END)) throw this.refuse('syntax', digit);
        }
        return 6;
      default:
        throw this.refuse('syntax', at);
    }
  }

  private readNumber(): number {
    const start = this.position;
    if (this.peek() === MINUS) this.position += 1;
    const firstDigit = this.position;
    if (this.peek() === ZERO) this.position += 1;
    else this.readDigits();
    const digits = this.position - firstDigit;
    let isInteger = true;
    if (this.peek() === DOT) {
      isInteger = false;
      this.position += 1;
      this.readDigits();
    }
    if ((this.peek() | 0x20) === 0x65 /* e or E */) {
      isInteger = false;
      this.position += 1;
      const sign = this.peek();
      if (sign === 0x2b || sign === MINUS) this.position += 1;
      this.readDigits();
    }
    if (isInteger && digits <= ALWAYS_SAFE_DIGITS) return this.smallInteger(start, firstDigit);
    const value = Number(this.bytes.toString('latin1', start, this.position));
    if (isInteger && this.profile.hasLargeDoubles !== true && !Number.isSafeInteger(value))
      throw this.refuse('big_int', start);
    if (!Number.isFinite(value)) throw this.refuse('number_range', start);
    if (this.profile.integersOnly && !Number.isSafeInteger(value)) {
      throw this.refuse(Number.isInteger(value) ? 'big_int' : 'fraction', start);
    }
    return value === 0 ? 0 : value;
  }

  /** Most numbers: summed from their digits, which spares a string for each. */
  private smallInteger(start: number, firstDigit: number): number {
    let value = 0;
    for (let at = firstDigit; at < this.position; at += 1) value = value * 10 + ((this.bytes[at] as number) - ZERO);
    return start === firstDigit || value === 0 ? value : -value;
  }

  private readDigits(): void {
    if (!isDigit(this.peek())) throw this.refuse('syntax');
    while (isDigit(this.peek())) this.position += 1;
  }

  private readLiteral(): JsonValue {
    for (const [text, value] of LITERALS) {
      if (this.startsWith(text)) {
        this.position += text.length;
        return value;
      }
    }
    throw this.refuse('syntax');
  }

  private startsWith(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      if (this.bytes[this.position + index] !== text.charCodeAt(index)) return false;
    }
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const byte = this.peek();
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.position += 1;
    }
  }

  private peek(): number {
    return this.position < this.bytes.length ? (this.bytes[this.position] as number) : END;
  }

  private refuse(reason: StrictJsonReason, offset = this.position): StrictJsonError {
    const path = this.open.map(({ container, member }) => (Array.isArray(container) ? container.length : member));
    return new StrictJsonError(reason, offset, path);
  }
}

const LITERALS: readonly (readonly [string, JsonValue])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

const store = ({ container, member }: Frame, value: JsonValue): void => {
  if (Array.isArray(container)) container.push(value);
  else container[member] = value;
};

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

const isHexDigit = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

/** The first byte that no valid UTF-8 text can hold at its place: the longest valid prefix, by halving. */
const firstInvalidByte = (bytes: Uint8Array): number => {
  const isValidPrefix = (length: number): boolean => {
    try {
      // stream: a character cut by the prefix is not an error of the prefix.
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let valid = 0;
  let invalid = bytes.byteLength + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isValidPrefix(middle)) valid = middle;
    else invalid = middle;
  }
  return Math.min(valid, bytes.byteLength);
};
