import { decode, encode, rfc8949EncodeOptions, Tagged } from 'cborg';

import { decodeBase64url, decodeHex, encodeBase64url, encodeHex } from './base64url.js';
import { SIGNATURE_BYTES } from './ed25519.js';

/** Bytes that are not one deterministic COSE_Sign1 message, or not the one form of a deed. */
export class CoseError extends Error {
  override readonly name = 'CoseError';

  constructor(
    readonly reason: 'too_large' | 'cbor' | 'not_deterministic' | 'tag' | 'shape' | 'header',
    options?: ErrorOptions,
  ) {
    super(`COSE_Sign1 refused: ${reason}`, options);
  }
}

/** The four parts of a COSE_Sign1 message (RFC 9052 section 4.2). The protected header stays in its signed bytes. */
export interface CoseSign1 {
  readonly protectedHeader: Uint8Array;
  readonly unprotectedHeader: ReadonlyMap<unknown, unknown>;
  readonly payload: Uint8Array;
  readonly signature: Uint8Array;
}

/** A deed in COSE form. `body` is the deed's canonical bytes; `coseSignature` is base64url. */
export interface DeedCose {
  readonly kid: string;
  readonly body: Uint8Array;
  readonly coseSignature: string;
}

export const COSE_MEDIA_TYPE = 'application/cose';

// RFC 9052 section 2 and IANA's COSE registries.
const COSE_SIGN1_TAG = 18;
const HEADER_ALGORITHM = 1;
const HEADER_KEY_ID = 4;
const ALGORITHM_EDDSA = -8;

const KID_BYTES = 16;
const MAX_COSE_BYTES = 256 * 1024;
const NO_EXTERNAL_DATA = new Uint8Array(0);

const DECODE_OPTIONS = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowNaN: false,
  allowInfinity: false,
  useMaps: true,
  rejectDuplicateMapKeys: true,
  tags: { [COSE_SIGN1_TAG]: Tagged.decoder(COSE_SIGN1_TAG) },
};

/** The tagged (18) message in deterministic CBOR (RFC 8949 section 4.2.1). */
export const encodeCoseSign1 = (message: CoseSign1): Uint8Array =>
  encode(
    new Tagged(COSE_SIGN1_TAG, [
      message.protectedHeader,
      message.unprotectedHeader,
      message.payload,
      message.signature,
    ]),
    rfc8949EncodeOptions,
  );

/**
 * Reads a tagged COSE_Sign1 message with an attached payload. Size cap first, then decode, encode again and compare:
 * indefinite lengths, longer integers than needed, unsorted or repeated keys and trailing bytes are all refused.
 * The protected header, which is CBOR inside a byte string, passes the same comparison. Throws `CoseError`.
 */
export const decodeCoseSign1 = (bytes: Uint8Array): CoseSign1 => {
  if (bytes.byteLength > MAX_COSE_BYTES) throw new CoseError('too_large');
  const value = decodeDeterministic(bytes);
  if (!(value instanceof Tagged)) throw new CoseError('tag');
  const message = readParts(value.value);
  if (message.protectedHeader.byteLength > 0) {
    const header = decodeDeterministic(message.protectedHeader);
    if (!(header instanceof Map)) throw new CoseError('header');
  }
  return message;
};

/** What a COSE_Sign1 signature covers: the Sig_structure of RFC 9052 section 4.4. */
export const sigStructure = (
  protectedHeader: Uint8Array,
  payload: Uint8Array,
  externalData: Uint8Array = NO_EXTERNAL_DATA,
): Uint8Array => encode(['Signature1', protectedHeader, externalData, payload], rfc8949EncodeOptions);

// [ "Signature1", <21 bytes of protected header>, <no external data>, <body> ] up to the head of the body.
const BEFORE_KID = Buffer.from(`846a${Buffer.from('Signature1').toString('hex')}55a201270450`, 'hex');
const AFTER_KID = Buffer.from('40', 'hex');

/**
 * What the seal key signs for the COSE form of a deed: `sigStructure` with the protected header {1: -8, 4: kid} and no
 * external data. Spelled out byte by byte, because it is made for every deed that is sealed and the encoder takes 40
 * times as long; a test compares the two.
 */
export const coseSignatureInput = (kid: string, body: Uint8Array): Uint8Array =>
  Buffer.concat([BEFORE_KID, decodeHex(kid, KID_BYTES), AFTER_KID, byteStringHead(body.byteLength), body]);

/** The head of a CBOR byte string (RFC 8949 section 3): major type 2 and the shortest length. */
const byteStringHead = (length: number): Buffer => {
  const head = Buffer.alloc(5);
  if (length < 24) return head.subarray(0, head.writeUInt8(0x40 + length));
  if (length < 0x100) return head.subarray(0, head.writeUInt16BE(0x5800 + length));
  if (length < 0x10000) {
    head.writeUInt8(0x59);
    return head.subarray(0, head.writeUInt16BE(length, 1));
  }
  head.writeUInt8(0x5a);
  return head.subarray(0, head.writeUInt32BE(length, 1));
};

/** The COSE form of a deed: its payload is the deed's canonical bytes, so both forms have one body hash. */
export const encodeDeedCose = ({ kid, body, coseSignature }: DeedCose): Uint8Array =>
  encodeCoseSign1({
    protectedHeader: deedHeader(kid),
    unprotectedHeader: new Map(),
    payload: body,
    signature: decodeBase64url(coseSignature, SIGNATURE_BYTES),
  });

/** Reads the COSE form of a deed and refuses any other header than the two members above. Verifies no signature. */
export const decodeDeedCose = (bytes: Uint8Array): DeedCose => {
  const message = decodeCoseSign1(bytes);
  const header = message.protectedHeader.byteLength > 0 ? decodeDeterministic(message.protectedHeader) : null;
  const keyId: unknown = header instanceof Map ? header.get(HEADER_KEY_ID) : null;
  if (!(keyId instanceof Uint8Array) || keyId.byteLength !== KID_BYTES) throw new CoseError('header');
  const kid = encodeHex(keyId);
  if (Buffer.compare(deedHeader(kid), message.protectedHeader) !== 0) throw new CoseError('header');
  if (message.unprotectedHeader.size > 0) throw new CoseError('header');
  if (message.signature.byteLength !== SIGNATURE_BYTES) throw new CoseError('shape');
  return { kid, body: message.payload, coseSignature: encodeBase64url(message.signature) };
};

const deedHeader = (kid: string): Uint8Array =>
  encode(
    new Map<number, unknown>([
      [HEADER_ALGORITHM, ALGORITHM_EDDSA],
      [HEADER_KEY_ID, decodeHex(kid, KID_BYTES)],
    ]),
    rfc8949EncodeOptions,
  );

const decodeDeterministic = (bytes: Uint8Array): unknown => {
  let value: unknown;
  try {
    value = decode(bytes, DECODE_OPTIONS);
  } catch (error) {
    throw new CoseError('cbor', { cause: error });
  }
  if (Buffer.compare(encode(value, rfc8949EncodeOptions), bytes) !== 0) throw new CoseError('not_deterministic');
  return value;
};

const readParts = (value: unknown): CoseSign1 => {
  if (!Array.isArray(value) || value.length !== 4) throw new CoseError('shape');
  const [protectedHeader, unprotectedHeader, payload, signature] = value as unknown[];
  if (!(protectedHeader instanceof Uint8Array)) throw new CoseError('shape');
  if (!(unprotectedHeader instanceof Map)) throw new CoseError('shape');
  if (!(payload instanceof Uint8Array)) throw new CoseError('shape');
  if (!(signature instanceof Uint8Array)) throw new CoseError('shape');
  return { protectedHeader, unprotectedHeader, payload, signature };
};
