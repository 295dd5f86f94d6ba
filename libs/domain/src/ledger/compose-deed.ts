import {
  buildDeedBody,
  deriveDeedId,
  digestOf,
  encodeDeedBody,
  sealDeed,
  type DeedBody,
  type Digest,
  type SigningKey,
} from '#libs/crypto';
import {
  eventMetadata,
  SYSTEM,
  type ActionId,
  type DeedId,
  type EventMetadata,
  type EventPlace,
  type Timestamp,
} from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { SealRequest } from './seal-source.js';

/** A deed at its place in the chain, before it is signed. */
export interface ComposedDeed {
  readonly request: SealRequest;
  readonly previous: ChainEnd;
  readonly body: Uint8Array;
  readonly bodyHash: Digest;
  readonly issuedAt: Timestamp;
}

export interface SealedDeed {
  readonly request: SealRequest;
  readonly event: LedgerEvent;
}

/** The end of a chain: the deed that the next one follows. */
export interface ChainEnd {
  /** 0 if the chain has no deed. */
  readonly seq: number;
  readonly bodyHash: Digest | null;
}

type StoredSeal = ReturnType<typeof sealDeed>;

/**
 * The body of the deed for a request at its place in the chain. Everything but `issued_at` and the key comes from the
 * log, so an auditor who takes `issued_at` from the stored deed gets the same bytes.
 */
export const deedBodyOf = (request: SealRequest, previous: ChainEnd, issuedAt: string, kid: string): Uint8Array => {
  const { sections } = request;
  return encodeDeedBody(
    buildDeedBody({
      org: request.org,
      seq: previous.seq + 1,
      issued_at: issuedAt,
      source: inCanonicalOrder(request.source),
      chain: { kid, prev_hash: previous.bodyHash },
      ...sections,
    }),
  );
};

const inCanonicalOrder = ({ event_id, revision, stream }: EventPlace): DeedBody['source'] => ({
  event_id,
  revision,
  stream,
});

export const composeDeed = (
  request: SealRequest,
  previous: ChainEnd,
  issuedAt: Timestamp,
  kid: string,
): ComposedDeed => {
  const body = deedBodyOf(request, previous, issuedAt, kid);
  return { request, previous, body, bodyHash: digestOf(body), issuedAt };
};

export const sealComposed = (deed: ComposedDeed, key: SigningKey): SealedDeed => {
  const { request, previous, body, bodyHash, issuedAt } = deed;
  return { request, event: deedEvent(request, previous, body, { issuedAt, seal: sealDeed(body, bodyHash, key) }) };
};

/** The event that records a sealed deed. */
export const deedEvent = (
  request: SealRequest,
  previous: ChainEnd,
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

/** The metadata of a deed's event. All of it follows from the deed and its source. */
export const deedMetadata = ({ data }: LedgerEvent, source: EventPlace): EventMetadata => {
  const { org, deed, issued_at: now } = data;
  const caused = { org, actor: SYSTEM, requestId: null, commandId: source.event_id, correlation: deed, now };
  return { source, ...eventMetadata(caused) };
};
