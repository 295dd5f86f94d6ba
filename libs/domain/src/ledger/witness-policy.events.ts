import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** Who is asked, as it was written: its verifier key names it, and `witness` is the digest of that. */
export interface NamedWitness {
  readonly witness: Digest;
  /** For people, and for the policy file. The name that its cosignatures have is the key's. */
  readonly name: string;
  readonly vkey: string;
  readonly url: string;
}

/** Events of a stream `ledgerwitnesses-<org_id>`: who cosigns the organization's checkpoints, and how many are enough. */
export type WitnessPolicyEvent =
  | { type: 'WitnessAdded'; data: NamedWitness & { org: OrgId; at: Timestamp } }
  /** What it cosigned stays. Under another name or URL it is removed and added. */
  | { type: 'WitnessRemoved'; data: NamedWitness & { org: OrgId; at: Timestamp } }
  | { type: 'WitnessPolicyChanged'; data: { org: OrgId; quorum: number; at: Timestamp } };
