import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/**
 * Events of a stream `checkpoints-<org_id>`: what the service has signed about an organization's tree. No stream
 * metadata, never deleted. The expected revision of the append makes it one root a size, whoever signs.
 */
export type CheckpointEvent = CheckpointMade | CheckpointCosigned | CheckpointActEvent;

/** Signed, and from then on what the next one must extend. No deed seals it: it would move the head it tells of. */
export type CheckpointMade = {
  type: 'CheckpointMade';
  data: {
    org: OrgId;
    /** The identity of the tree. It changes only where a break was accepted. */
    origin: string;
    size: number;
    /** 32 bytes in base64, as in the note. */
    root: string;
    /** The signed note, with the signatures of the service's own keys. */
    note: string;
    at: Timestamp;
  };
};

/** A witness has cosigned it, and its line verifies. Once a witness and size. It may come after later checkpoints. */
export type CheckpointCosigned = {
  type: 'CheckpointCosigned';
  data: {
    org: OrgId;
    origin: string;
    size: number;
    /** The digest of its verifier key. */
    witness: Digest;
    /** What the organization called it then. */
    name: string;
    /** The signature line, with its newline. */
    line: string;
    /** By the clock of the witness. */
    cosigned_at: Timestamp;
    at: Timestamp;
  };
};

/** What an admin deed seals. */
export type CheckpointActEvent =
  /** From here on this key signs the organization's checkpoints. In the append of the first one that it signs. */
  | {
      type: 'CheckpointKeyAnnounced';
      data: {
        org: OrgId;
        origin: string;
        kid: string;
        alg: 'Ed25519';
        public_key: string;
        activated_at: Timestamp;
        at: Timestamp;
      };
    }
  /** In the append of the first checkpoint that this key signs no more. */
  | {
      type: 'CheckpointKeyWithdrawn';
      data: { org: OrgId; origin: string; kid: string; public_key: string; at: Timestamp };
    }
  /** An operator accepts that the ledger does not go on from what was signed. The next checkpoints have another origin. */
  | {
      type: 'LedgerBreakAccepted';
      data: {
        org: OrgId;
        origin: string;
        broken: { origin: string; size: number; root: string };
        reason: string;
        at: Timestamp;
      };
    };
