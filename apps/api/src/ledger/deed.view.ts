import type { JsonObject } from '#libs/crypto';
import type { DeedRow } from '#libs/infra/read-models';
import type { SealedDeed } from './find-sealed-deed.query-handler.js';

/** The deed envelope (architecture, choices). The bytes it speaks of are at GET /v1/deeds/{id}. */
export const deedView = (row: DeedRow): JsonObject => ({
  object: 'deed',
  id: row.id,
  seq: row.seq,
  kind: row.kind,
  action: row.action,
  issued_at: row.issuedAt,
  body_hash: row.bodyHash,
  prev_hash: row.prevHash,
  kid: row.kid,
  signature: row.signature,
});

/** What an action's own detail and the stream say of a deed (document 1, Deed). */
export const deedSummary = ({ id, seq, kind, action, issuedAt }: SealedDeed): JsonObject => ({
  object: 'deed_summary',
  id,
  seq,
  kind,
  action,
  issued_at: issuedAt,
});
