import type { Digest } from '#libs/crypto';

import type { CommandMetadata, OrgId, PolicyId, PolicyVersionId } from '../kernel/index.js';
import type { PolicyVersionOrigin } from './policy.events.js';

/** A source that compiled, with its digests and the id the version takes if it is new. */
export interface CheckedVersion {
  readonly versionId: PolicyVersionId;
  readonly source: string;
  readonly sourceHash: Digest;
  readonly versionHash: Digest;
  readonly notes: string | null;
  readonly origin: PolicyVersionOrigin;
}

interface CreatePolicyCommand {
  readonly type: 'CreatePolicy';
  readonly data: CheckedVersion & { readonly org: OrgId; readonly policy: PolicyId; readonly name: string };
  readonly metadata: CommandMetadata;
}

interface AddPolicyVersionCommand {
  readonly type: 'AddPolicyVersion';
  readonly data: CheckedVersion & {
    /** The caller's organization. Another's policy is not found. */
    readonly org: OrgId;
    /** The latest version as the author read it; left out, whichever it is. */
    readonly expectedLatest?: PolicyVersionId;
  };
  readonly metadata: CommandMetadata;
}

export type PolicyCommand = CreatePolicyCommand | AddPolicyVersionCommand;
