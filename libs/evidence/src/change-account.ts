import type { DeedBody } from '#libs/crypto';
import { actorOf, type ActorPart, type DeedPlace, placeOf } from './action-account.js';
import type { BundleEvidence } from './bundle-evidence.js';
import { type Given, textOf } from './given.js';
import type { Named } from './names.js';

/** A change that an administrator made, as a page. */
export interface ChangeAccount extends DeedPlace {
  readonly object: 'change_account';
  readonly action: string;
  readonly target: { readonly type: string } & Named;
  readonly actor: ActorPart;
  readonly reason: string | null;
  readonly data: Given | null;
  /** What the data name by a digest. What is given of them has that digest. */
  readonly documents: readonly { readonly document: string; readonly digest: string; readonly given: Given }[];
}

const NAMED_BY = { connector_config: 'config_hash', policy_source: 'source_hash' } as const;

const documentsOf = (evidence: BundleEvidence, seq: number): ChangeAccount['documents'] => {
  const data = evidence.opened.dataOf(seq);
  return Object.entries(NAMED_BY).flatMap(([document, member]) => {
    const digest = textOf(data?.[member]);
    return digest === null ? [] : [{ document, digest, given: evidence.document(digest) }];
  });
};

/** Null: the deed is of an action. */
export const accountOfChange = (evidence: BundleEvidence, deed: DeedBody): ChangeAccount | null => {
  const { admin, who } = deed;
  if (admin === null) return null;
  return {
    object: 'change_account',
    ...placeOf(deed),
    action: admin.action,
    target: { type: admin.target.type, ...evidence.names.of(admin.target.id) },
    actor: actorOf(evidence, who.actor),
    reason: admin.reason,
    data: evidence.opened.of(deed, 'admin.data_digest', admin.data_digest),
    documents: documentsOf(evidence, deed.seq),
  };
};
