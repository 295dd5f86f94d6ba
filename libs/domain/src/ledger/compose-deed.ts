import { buildDeedBody, deriveDeedId, encodeDeedBody, sealDeed, type Digest, type SigningKey } from '#libs/crypto';
import type { ActionId, DeedId, Timestamp } from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { SealRequest } from './seal-source.js';

export interface SealedDeed {
  readonly request: SealRequest;
  readonly event: LedgerEvent;
  /** Size of the body. */
  readonly bytes: number;
}

type StoredSeal = ReturnType<typeof sealDeed>;

/**
 * The deed of a request at its place in the chain. Everything but `issued_at` and the key comes from the log, so an
 * auditor who takes `issued_at` from the deed gets the same bytes.
 */
export const deedBodyOf = (
  request: SealRequest,
  previous: { seq: number; bodyHash: Digest | null },
  issuedAt: string,
  kid: string,
): Uint8Array => {
  const { sections } = request;
  return encodeDeedBody(
    buildDeedBody({
      ...sections,
      org: request.org,
      seq: previous.seq + 1,
      issued_at: issuedAt,
      source: { ...request.source },
      chain: { prev_hash: previous.bodyHash, kid },
    }),
  );
};

export const composeDeed = (
  request: SealRequest,
  previous: { seq: number; bodyHash: Digest | null },
  issuedAt: string,
  key: SigningKey,
): SealedDeed => {
  const body = deedBodyOf(request, previous, issuedAt, key.publicKey.kid);
  const event = deedEvent(request, previous, body, { issuedAt, seal: sealDeed(body, key) });
  return { request, bytes: body.byteLength, event };
};

/** All that the ledger stores of a deed. */
export const deedEvent = (
  request: SealRequest,
  previous: { seq: number; bodyHash: Digest | null },
  body: Uint8Array,
  { issuedAt, seal }: { issuedAt: Timestamp; seal: StoredSeal },
): LedgerEvent => ({
  type: 'DeedSealed',
  data: {
    org: request.org,
    deed: deriveDeedId(request.org, request.source.event_id) as DeedId,
    seq: previous.seq + 1,
    kind: request.sections.kind,
    action: (request.sections.action?.id ?? null) as ActionId | null,
    issued_at: issuedAt,
    body: Buffer.from(body).toString('utf8'),
    body_hash: seal.bodyHash,
    prev_hash: previous.bodyHash,
    kid: seal.kid,
    signature: seal.signature,
    cose_signature: seal.coseSignature,
  },
});
