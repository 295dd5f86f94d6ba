// What libs/crypto uses of Node's buffers, for a browser. The package `buffer` would be a tenth of the page, and knows no base64url.

const UTF_8 = new TextEncoder();
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Arguments that one call takes. */
const CHARACTERS_AT_ONCE = 8_192;

const latin1Of = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_AT_ONCE));
  }
  return text;
};

const bytesOfLatin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** As Node reads it: both alphabets, up to the first character that is of neither. */
const bytesOfBase64 = (text: string): Uint8Array => {
  const [digits = ''] = /^[A-Za-z0-9+/]*/.exec(text.replaceAll('-', '+').replaceAll('_', '/')) ?? [];
  // A single digit at the end is no byte.
  return bytesOfLatin1(atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits));
};

const bytesOfHex = (text: string): Uint8Array => {
  const [digits = ''] = /^(?:[0-9a-f]{2})*/i.exec(text) ?? [];
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  );
};

const READERS: Readonly<Record<string, (text: string) => Uint8Array>> = {
  utf8: (text) => UTF_8.encode(text),
  latin1: bytesOfLatin1,
  ascii: bytesOfLatin1,
  hex: bytesOfHex,
  base64: bytesOfBase64,
  base64url: bytesOfBase64,
};

const WRITERS: Readonly<Record<string, (bytes: Uint8Array) => string>> = {
  utf8: (bytes) => LENIENT.decode(bytes),
  latin1: latin1Of,
  hex: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes) => btoa(latin1Of(bytes)),
  base64url: (bytes) => btoa(latin1Of(bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
};

const known = <Coding>(codings: Readonly<Record<string, Coding>>, name: string): Coding => {
  const coding = codings[name];
  if (coding === undefined) throw new TypeError(`No encoding here is called ${name}`);
  return coding;
};

type Source = string | ArrayBuffer | Uint8Array;

class Bytes extends Uint8Array {
  equals(other: Uint8Array): boolean {
    return compare(this, other) === 0;
  }

  override toString(encoding = 'utf8', start = 0, end = this.length): string {
    return known(WRITERS, encoding)(this.subarray(start, end));
  }

  write(text: string, offset: number, encoding: string): number {
    const bytes = known(READERS, encoding)(text);
    this.set(bytes, offset);
    return bytes.length;
  }

  writeUInt8(value: number, offset = 0): number {
    this[offset] = value;
    return offset + 1;
  }

  writeUInt16BE(value: number, offset = 0): number {
    new DataView(this.buffer, this.byteOffset).setUint16(offset, value);
    return offset + 2;
  }

  writeUInt32BE(value: number, offset = 0): number {
    new DataView(this.buffer, this.byteOffset).setUint32(offset, value);
    return offset + 4;
  }

  writeUInt32LE(value: number, offset = 0): number {
    new DataView(this.buffer, this.byteOffset).setUint32(offset, value, true);
    return offset + 4;
  }
}

const compare = (one: Uint8Array, other: Uint8Array): number => {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(one.length - other.length);
};

const copyOf = (bytes: Uint8Array): Bytes => {
  const copy = new Bytes(bytes.byteLength);
  copy.set(bytes);
  return copy;
};

const from = (source: Source, encodingOrStart?: string | number, length?: number): Bytes => {
  if (source instanceof ArrayBuffer) return new Bytes(source, Number(encodingOrStart ?? 0), length);
  if (typeof source !== 'string') return copyOf(source);
  return copyOf(known(READERS, String(encodingOrStart ?? 'utf8'))(source));
};

const concat = (parts: readonly Uint8Array[]): Bytes => {
  const whole = new Bytes(parts.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
};

interface Buffers {
  from(source: Source, encodingOrStart?: string | number, length?: number): Bytes;
  compare(one: Uint8Array, other: Uint8Array): number;
  concat(parts: readonly Uint8Array[]): Bytes;
  alloc(size: number): Bytes;
  byteLength(text: string): number;
}

export type Buffer = Bytes;
export const Buffer: Buffers = Object.assign(Bytes, {
  ...{ from, compare, concat },
  alloc: (size: number): Bytes => new Bytes(size),
  byteLength: (text: string): number => UTF_8.encode(text).byteLength,
});

export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    STRICT.decode(bytes);
    return true;
  } catch {
    return false;
  }
};
