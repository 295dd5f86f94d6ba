// A third verifier, written from docs/deed-format.md alone: the service's own and the one in Python share no line with it.
import { ed25519 } from '@noble/curves/ed25519.js';

/** What the deed is compared with. All of it comes from the service that is judged. */
export interface Given {
  /** As GET /v1/deeds/{id} answers them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its envelope, and its neighbours' where there are any. */
  readonly envelope: Envelope;
  readonly before: Envelope | null;
  readonly after: Envelope | null;
  /** The published key set. */
  readonly keys: readonly SealKey[];
  readonly org: string;
  /** Of the action; undefined where it is not looked at, null where its days are over. */
  readonly args?: unknown;
  readonly result?: unknown;
}

export interface Envelope {
  readonly seq: number;
  readonly kid: string;
  readonly signature: string;
  readonly body_hash: string;
  readonly prev_hash: string | null;
  readonly issued_at: string;
}

export interface SealKey {
  readonly kid: string;
  readonly public_key: string;
  readonly activated_at: string;
  readonly retired_at: string | null;
  readonly revoked_at: string | null;
}

export interface Check {
  readonly name: string;
  /** Null: it cannot be said, and why stands in the words. */
  readonly holds: boolean | null;
  readonly says: string;
}

interface Body {
  readonly id: string;
  readonly org: string;
  readonly seq: number;
  readonly issued_at: string;
  readonly chain: { readonly kid: string; readonly prev_hash: string | null };
  readonly source: { readonly event_id: string };
  readonly action: { readonly args_digest: string } | null;
  readonly execution: { readonly result_digest: string | null } | null;
}

const text = new TextEncoder();

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => `sha256:${hex(await sha256(bytes))}`;

/** RFC 8785 of a JSON value; throws where a text has no canonical form. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, member]) => `${canonical(name)}:${canonical(member)}`).join(',')}}`;
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('a lone surrogate');
  return JSON.stringify(value);
};

const hasOnlySafeIntegers = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(hasOnlySafeIntegers);
};

/** Null where the bytes are not those that the value would be written as. */
const bodyIn = (bytes: Uint8Array): Body | null => {
  try {
    const written = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(written) as Body;
    return hasOnlySafeIntegers(value) && canonical(value) === written ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
};

/** Null unless encoding the bytes again gives the same text. */
const fromBase64url = (encoded: string): Uint8Array<ArrayBuffer> | null => {
  if (!/^[A-Za-z0-9_-]*$/.test(encoded)) return null;
  const padded = encoded.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(padded.padEnd(Math.ceil(padded.length / 4) * 4, '=')), (unit) =>
    unit.charCodeAt(0),
  );
  const again = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
  return again === encoded ? bytes : null;
};

/** A point in its one encoding, of the prime-order group: browsers take the identity for a key, which signs everything. */
const isKey = (bytes: Uint8Array): boolean => {
  try {
    const point = ed25519.Point.fromBytes(bytes, false);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
};

const IDENTITY = `01${'00'.repeat(31)}`;

const isSealedBy = async (key: Uint8Array<ArrayBuffer>, signature: string, bodyHash: string): Promise<boolean> => {
  const bytes = fromBase64url(signature);
  if (bytes?.length !== 64 || !isKey(key) || hex(bytes.slice(0, 32)) === IDENTITY) return false;
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', imported, bytes, text.encode(`service/deed/v1\n${bodyHash}`));
};

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 128 bits as a number in base 32, highest digit first. */
const idOf = (prefix: string, bytes: Uint8Array): string => {
  let number = BigInt(`0x${hex(bytes.slice(0, 16))}`);
  let digits = '';
  for (let place = 0; place < 26; place += 1) {
    digits = (ALPHABET[Number(number % 32n)] ?? '') + digits;
    number /= 32n;
  }
  return `${prefix}_${digits}`;
};

const vouches = ({ activated_at: from, retired_at: until, revoked_at: revoked }: SealKey, at: string): boolean =>
  from <= at && (until === null || at < until) && revoked === null;

const sealChecks = async (body: Body, hash: string, { envelope, keys }: Given): Promise<readonly Check[]> => {
  const key = keys.find(({ kid }) => kid === body.chain.kid);
  const bytes = key === undefined ? null : fromBase64url(key.public_key.replace(/^ed25519:/, ''));
  const isOwnKid = bytes !== null && hex(await sha256(bytes)).slice(0, 32) === body.chain.kid;
  const isSealed = bytes !== null && isOwnKid && (await isSealedBy(bytes, envelope.signature, hash));
  return [
    {
      name: 'Sealed',
      holds: isSealed && envelope.kid === body.chain.kid,
      says:
        key === undefined
          ? 'No published key has this id'
          : `Ed25519 signature by seal key ${body.chain.kid.slice(0, 8)}…`,
    },
    {
      name: 'Key valid',
      holds: key !== undefined && vouches(key, body.issued_at),
      says: 'The key was active when the deed was issued, and is not revoked',
    },
  ];
};

const chainChecks = async (body: Body, hash: string, given: Given): Promise<readonly Check[]> => {
  const { before, after, org } = given;
  const id = idOf('deed', await sha256(text.encode(`service/deed-id/v1\n${body.org}\n${body.source.event_id}`)));
  const isFirst = body.seq === 1;
  return [
    {
      name: 'Yours',
      holds: body.org === org && body.id === id && body.seq === given.envelope.seq,
      says: 'It is of your organization, and its id follows from the event that it seals',
    },
    {
      name: 'In time',
      holds: isFirst || (before !== null && before.issued_at <= body.issued_at),
      says: isFirst ? 'It is the first deed' : 'Issued no earlier than the deed before',
    },
    {
      name: 'Follows',
      holds: isFirst ? body.chain.prev_hash === null : before !== null && before.body_hash === body.chain.prev_hash,
      says: isFirst ? 'It begins the chain' : `Holds the hash of deed #${body.seq - 1}`,
    },
    after === null
      ? { name: 'Followed', holds: null, says: 'No deed follows yet' }
      : {
          name: 'Followed',
          holds: after.prev_hash === hash,
          says: `Deed #${body.seq + 1} holds its hash: it cannot be taken out`,
        },
  ];
};

const compared = async (name: string, value: unknown, digest: string | null | undefined): Promise<readonly Check[]> => {
  if (value === undefined || digest === null || digest === undefined) return [];
  if (value === null) return [{ name, holds: null, says: 'The days that it is kept for are over; its digest stays' }];
  const holds = (await digestOf(text.encode(canonical(value)))) === digest;
  return [{ name, holds, says: holds ? 'What you see is what was sealed' : 'What you see is not what was sealed' }];
};

/** Every check, in the order in which they are read; all but the first two are left out where the bytes say nothing. */
export const checkDeed = async (given: Given): Promise<readonly Check[]> => {
  const hash = await digestOf(given.bytes);
  const body = bodyIn(given.bytes);
  const first: readonly Check[] = [
    {
      name: 'Canonical',
      holds: body !== null,
      says: 'The bytes are written in the one form that a deed may have',
    },
    {
      name: 'Unchanged',
      holds: hash === given.envelope.body_hash,
      says: `SHA-256 of the ${given.bytes.length} bytes is the hash that was sealed`,
    },
  ];
  if (body === null) return first;
  return [
    ...first,
    ...(await sealChecks(body, hash, given)),
    ...(await chainChecks(body, hash, given)),
    ...(await compared('These arguments', given.args, body.action?.args_digest)),
    ...(await compared('This result', given.result, body.execution?.result_digest)),
  ];
};
