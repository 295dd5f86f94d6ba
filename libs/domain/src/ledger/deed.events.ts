import type { Digest } from '#libs/crypto';
import type { ActionId, DeedId, OrgId, Timestamp } from '../kernel/index.js';

export const DEED_KINDS = ['action', 'amendment', 'admin'] as const;
export type DeedKind = (typeof DEED_KINDS)[number];

/**
 * The only event of a stream `ledger-<org_id>`. Deed `seq` = stream revision + 1, so the expected revision of the
 * append keeps the chain gapless. The event's id comes from `body_hash`; its metadata names the source event.
 */
export type LedgerEvent = {
  type: 'DeedSealed';
  data: {
    org: OrgId;
    deed: DeedId;
    seq: number;
    kind: DeedKind;
    action: ActionId | null;
    issued_at: Timestamp;
    /** The canonical bytes, which are UTF-8 text. */
    body: string;
    body_hash: Digest;
    /** The body hash of the deed before; null for the first deed. */
    prev_hash: Digest | null;
    kid: string;
    /** Ed25519 over `service/deed/v1` LF body_hash; unpadded base64url. */
    signature: string;
    /** Ed25519 over the RFC 9052 Sig_structure of the same bytes; unpadded base64url. */
    cose_signature: string;
  };
};
