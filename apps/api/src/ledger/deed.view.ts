import type { DeedBody, JsonObject } from '#libs/crypto';
import { aboutOf, type DeedAbout, type StoredDeed } from '#libs/domain/ledger';
import type { SealedDeed } from './find-action-deeds.query-handler.js';
import type { ListedDeed } from './list-deeds.query-handler.js';

/**
 * The deed envelope. The deed's bytes are at GET /v1/deeds/{id}; the envelope also says what the deed is about, so that
 * a client can find a deed without reading the bytes of all.
 */
export const deedView = ({ row, agentName }: ListedDeed): JsonObject => ({
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
  about: row.about && aboutView(row.about, agentName),
});

/** The envelope of the deed of a change, made from the ledger because its row may not exist yet. */
export const storedDeedView = (deed: StoredDeed): JsonObject => {
  const { deed: id, org, seq, kind, action, issued_at, body_hash, prev_hash, kid, signature } = deed;
  const place = { id, org, seq, kind, action, agent: null, issuedAt: issued_at };
  const about = aboutOf(JSON.parse(deed.body) as DeedBody);
  const row = { ...place, bodyHash: body_hash, prevHash: prev_hash, kid, signature, about };
  return deedView({ row, agentName: null });
};

const aboutView = (about: DeedAbout, agentName: string | null): JsonObject => {
  if ('admin' in about) return { admin: about.admin, target: { ...about.target } };
  const { tool, agent, outcome, level, verdict } = about;
  return { tool, agent: agent && { id: agent, name: agentName }, outcome, level, verdict };
};

/** What an action's detail and the event stream show of a deed. */
export const deedSummary = ({ id, seq, kind, action, issuedAt }: SealedDeed): JsonObject => ({
  object: 'deed_summary',
  id,
  seq,
  kind,
  action,
  issued_at: issuedAt,
});
