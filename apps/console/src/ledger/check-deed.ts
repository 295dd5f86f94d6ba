// A third verifier of deeds, written from docs/deed-format.md only. It shares no code with the service's verifier, nor
// with the one in Python.
import { ed25519 } from '@noble/curves/ed25519.js';
import { differences, type Sealed, type Shown, type Stands } from './this-page.ts';

/** A deed as it was read from the service. */
export interface GivenDeed {
  /** The id that was asked for, taken from the address or from the action. */
  readonly id: string;
  /** The bytes of GET /v1/deeds/{id}. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The list's entry of this deed, and of its neighbours if there are any. */
  readonly envelope: Envelope;
  readonly before: Envelope | null;
  readonly after: Envelope | null;
  /** Of GET /v1/deeds/{id}/evidence, by the member that a salt is for. Only needed to compare a page. */
  readonly salts?: Readonly<Record<string, string | null>>;
}

/** All inputs of a check. All of them come from the service whose deed is checked. */
export interface Given extends GivenDeed {
  /** The published key set. */
  readonly keys: readonly SealKey[];
  readonly org: string;
  /** What the page of the deed's action shows; absent on the page of the deed itself. */
  readonly page?: Shown;
  /** The newest amendment of the action, if it has one. */
  readonly amendment?: GivenDeed;
}

export interface Envelope {
  readonly id: string;
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
  /** Null if it cannot be decided; `says` then tells why. */
  readonly holds: boolean | null;
  readonly says: string;
}

interface Body extends Sealed {
  readonly v: string;
  readonly id: string;
  readonly kind: string;
  readonly org: string;
  readonly seq: number;
  readonly issued_at: string;
  readonly chain: { readonly kid: string; readonly prev_hash: string | null };
  readonly source: { readonly event_id: string };
}

const text = new TextEncoder();

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => `sha256:${hex(await sha256(bytes))}`;

/**
 * The form of a JSON value by RFC 8785.
 * @throws {SyntaxError} if a string holds a lone surrogate, which has no canonical form
 */
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

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const NEEDED = ['chain', 'source', 'who'] as const satisfies (keyof Body)[];
const OPTIONAL = ['action', 'policy', 'approval', 'execution', 'witness', 'admin'];

/** Whether a value has the sections of a deed. Bytes without them are no deed, even if the signature holds. */
const hasSections = (value: unknown): value is Body =>
  isObject(value) &&
  NEEDED.every((name) => isObject((value as Body)[name])) &&
  OPTIONAL.every((name) => {
    const section = (value as Readonly<Record<string, unknown>>)[name];
    return section === null || isObject(section);
  });

/** Parses a deed's body; null unless the bytes are exactly the canonical form of what they hold. */
const bodyIn = (bytes: Uint8Array): Body | null => {
  try {
    const written = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(written);
    return hasSections(value) && hasOnlySafeIntegers(value) && canonical(value) === written ? value : null;
  } catch (error) {
    // No JSON, no UTF-8, or nested too deeply for the parser.
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
};

/** Decodes base64url; null unless encoding the bytes again gives the same text. */
const fromBase64url = (encoded: unknown): Uint8Array<ArrayBuffer> | null => {
  if (typeof encoded !== 'string' || !/^[A-Za-z0-9_-]*$/.test(encoded)) return null;
  const padded = encoded.replaceAll('-', '+').replaceAll('_', '/');
  // A single character in the last group of four encodes no whole byte.
  if (padded.length % 4 === 1) return null;
  const bytes = Uint8Array.from(atob(padded.padEnd(Math.ceil(padded.length / 4) * 4, '=')), (unit) =>
    unit.charCodeAt(0),
  );
  const again = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
  return again === encoded ? bytes : null;
};

/**
 * Whether the bytes are the one encoding of a point in the prime-order group. Browsers accept the identity point as a
 * key, for which a signature can be made that fits every message.
 */
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

/** An id: its prefix, and 128 bits as a number in base 32, the highest digit first. */
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
  const bytes = key === undefined ? null : fromBase64url(String(key.public_key).replace(/^ed25519:/, ''));
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
  const { envelope, before, after, org } = given;
  const id = idOf('deed', await sha256(text.encode(`service/deed-id/v1\n${body.org}\n${body.source.event_id}`)));
  const isFirst = body.seq === 1;
  return [
    {
      name: 'This deed',
      holds:
        body.id === given.id &&
        envelope.id === given.id &&
        envelope.issued_at === body.issued_at &&
        envelope.prev_hash === body.chain.prev_hash,
      says:
        body.id === given.id
          ? 'This is the requested deed, and the list agrees with it'
          : 'This is not the requested deed',
    },
    {
      name: 'Yours',
      holds: body.org === org && body.id === id && body.seq === envelope.seq,
      says: 'The deed belongs to your organization, and its id matches the event that it seals',
    },
    {
      name: 'In time',
      holds: isFirst || (before !== null && before.issued_at <= body.issued_at),
      says: isFirst ? 'This is the first deed' : 'Issued no earlier than the deed before',
    },
    {
      name: 'Follows',
      holds: isFirst ? body.chain.prev_hash === null : before !== null && before.body_hash === body.chain.prev_hash,
      says: isFirst ? 'This is the first deed of the chain' : `Holds the hash of deed #${body.seq - 1}`,
    },
    after === null
      ? { name: 'Followed', holds: null, says: 'No deed follows yet' }
      : {
          name: 'Followed',
          holds: after.prev_hash === hash,
          says: `Deed #${body.seq + 1} holds the hash of this deed, so it cannot be removed`,
        },
  ];
};

/** The bytes of a salt, or null where there is none. */
const saltIn = (salt: string | null | undefined): Uint8Array | null => {
  if (typeof salt !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(salt)) return null;
  const binary = atob(`${salt.replaceAll('-', '+').replaceAll('_', '/')}=`);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
};

/** The format of deeds that hold commitments. */
const SALTED = 'service.deed/2';

/** What a deed holds in place of a value: its digest, or in the newer format a commitment. Null without the salt. */
type Hold = (value: unknown) => Promise<string | null>;

const holdOf = ({ v }: Body, salts: GivenDeed['salts'], member: string): Hold => {
  if (v !== SALTED) return (value) => digestOf(text.encode(canonical(value)));
  const salt = saltIn(salts?.[member]);
  if (salt === null) return () => Promise.resolve(null);
  const [tag, line] = [text.encode('service/commit/v1\n'), text.encode('\n')];
  return (value) => digestOf(new Uint8Array([...tag, ...salt, ...line, ...text.encode(canonical(value))]));
};

/**
 * Compares a value on the page with what the deed holds in its place. A value without a digest, and a digest without a
 * value, are reported, too.
 */
const compared = async (name: string, stands: Stands, digest: unknown, hold: Hold): Promise<Check> => {
  if (typeof digest !== 'string') return { name, ...withoutDigest(stands) };
  if ('value' in stands) {
    const held = await hold(stands.value);
    if (held === null) return { name, holds: null, says: 'The service gave no salt, so it cannot be compared' };
    const holds = held === digest;
    return { name, holds, says: holds ? 'Matches what was sealed' : 'Does not match what was sealed' };
  }
  // If the deed sealed the removal mark itself, a tool or an agent returned exactly that value.
  if (stands.absent === 'removed' && digest === (await hold({ removed: true })))
    return { name, holds: true, says: 'Not removed: {"removed": true} is what the tool returned' };
  // A result may be null: then the deed sealed null.
  if (stands.absent === 'none' && digest === (await hold(null)))
    return { name, holds: true, says: 'Nothing is shown here, and nothing was sealed' };
  return {
    name,
    holds: null,
    says:
      stands.absent === 'removed'
        ? 'Removed at the end of the retention period, according to the service; the digest remains'
        : 'Not shown here, so it cannot be compared; the digest was sealed',
  };
};

const withoutDigest = (stands: Stands): Omit<Check, 'name'> => {
  if ('value' in stands) return { holds: false, says: 'Shown here, but missing from the deed' };
  if (stands.absent === 'removed') return { holds: false, says: 'Shown as removed, but the deed never had one' };
  return { holds: true, says: 'None, neither here nor in the deed' };
};

const isAbout = (body: Body, page: Shown): boolean => body.action?.['id'] === page.id && page.action === page.id;

/**
 * Checks the newest amendment, all its checks as one.
 * @returns the check, and the amendment's body if it can be parsed
 */
const amended = async (
  amendment: GivenDeed,
  { keys, org }: Given,
  page: Shown,
): Promise<readonly [Check, Body | null]> => {
  const checks = await checkDeed({ ...amendment, keys, org });
  const failed = checks.filter(({ holds }) => holds === false).map(({ name }) => name);
  const body = bodyIn(amendment.bytes);
  const isOne = body !== null && body.kind === 'amendment' && isAbout(body, page);
  return [
    {
      name: 'Amended',
      holds: failed.length === 0 && isOne,
      says: !isOne
        ? 'The newest amendment belongs to a different action'
        : failed.length === 0
          ? `Deed #${body.seq} has the newest verdict and passes every check`
          : `Deed #${body.seq} has the newest verdict and fails these checks: ${failed.join(', ')}`,
    },
    body,
  ];
};

const pageChecks = async (body: Body, given: Given, page: Shown): Promise<readonly Check[]> => {
  const [amendment, later] = given.amendment === undefined ? [null, body] : await amended(given.amendment, given, page);
  const newest = later ?? body;
  const hold = (member: string): Hold => holdOf(body, given.salts, member);
  const differing = differences(page, body, newest);
  const isThis = body.kind === 'action' && isAbout(body, page);
  return [
    {
      name: 'This action',
      holds: isThis,
      says: isThis ? 'The deed belongs to the action on this page' : 'The deed belongs to something else',
    },
    ...(amendment === null ? [] : [amendment]),
    {
      name: 'This page',
      holds: differing.length === 0,
      says:
        differing.length === 0
          ? 'Tool, agent, for whom, decision, outcome and evidence are shown as sealed. Names and descriptions are not part of a deed; what people gave as reasons is, as commitments, which are not compared here'
          : `Differs from what was sealed: ${differing.join(', ')}`,
    },
    await compared('These arguments', page.args, body.action?.['args_digest'], hold('action.args_digest')),
    ...(body.v !== SALTED ? [] : [await requested(body, page, hold('action.request_digest'))]),
    await compared('This result', page.result, body.execution?.['result_digest'], hold('execution.result_digest')),
    await compared(
      'This evidence',
      page.evidence,
      newest.witness?.['evidence_digest'],
      holdOf(newest, (later === null ? given : (given.amendment ?? given)).salts, 'witness.evidence_digest'),
    ),
  ];
};

/** The whole request. In the older format the page's digest of it is compared with that in the deed. */
const requested = (body: Body, { args, mode, tool }: Shown, hold: Hold): Promise<Check> => {
  const { request_digest: digest, tool_digest, tool_truncated: isCut } = body.action ?? {};
  const stands: Stands =
    'value' in args && isCut !== true
      ? { value: { args: args.value, mode, tool, tool_digest } }
      : { absent: 'removed' };
  return 'value' in args && isCut === true
    ? Promise.resolve({ name: 'This request', holds: null, says: 'The name of the tool is shortened here' })
    : compared('This request', stands, digest, hold);
};

/** Runs all checks, in the order in which the page shows them; only the first two if the bytes are no deed. */
export const checkDeed = async (given: Given): Promise<readonly Check[]> => {
  const hash = await digestOf(given.bytes);
  const body = bodyIn(given.bytes);
  const first: readonly Check[] = [
    {
      name: 'Canonical',
      holds: body !== null,
      says: 'The bytes are in canonical form',
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
    ...(given.page === undefined ? [] : await pageChecks(body, given, given.page)),
  ];
};
