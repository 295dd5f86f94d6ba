import type { Digest } from '#libs/crypto';

import type { Actor, OrgId, PolicyId, PolicyVersionId, Timestamp } from '../kernel/index.js';

/** Where a version came from: a person or key wrote it, first start made it, or a suggestion was accepted. */
export type PolicyVersionOrigin = 'user' | 'starter' | 'suggestion';

/** Stream `policy-<pol_id>`. Which version is enforced stands in the organization's stream. */
export type PolicyEvent =
  | { type: 'PolicyCreated'; data: { org: OrgId; policy: PolicyId; name: string; at: Timestamp } }
  | {
      type: 'PolicyVersionAdded';
      data: {
        org: OrgId;
        policy: PolicyId;
        version_id: PolicyVersionId;
        /** 1 for the first, gapless. */
        version: number;
        /** As the author sent it, byte for byte. */
        source: string;
        /** Of the source's UTF-8 bytes. */
        source_hash: Digest;
        /** Of what the source means: the same for two sources that differ in comments or layout alone. */
        version_hash: Digest;
        notes: string | null;
        author: Actor;
        origin: PolicyVersionOrigin;
        at: Timestamp;
      };
    };
