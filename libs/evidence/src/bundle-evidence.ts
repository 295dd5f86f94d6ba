import type { DeedBody, PayloadLine } from '#libs/crypto';
import { type Given, givenBy, NOT_GIVEN, OpenedMembers, textOf } from './given.js';
import { ConnectorConfigs } from './connector-configs.js';
import { Names } from './names.js';

/** A document of which a deed holds the digest; or, not proven, the service says that it does. */
export interface GivenDocument {
  readonly given: Given;
  readonly isProven: boolean;
}

/** What a bundle tells of the deeds that were looked at: opened values, names, and documents. */
export class BundleEvidence {
  readonly opened = new OpenedMembers();
  readonly names = new Names();
  private readonly documents = new Map<string, Exclude<PayloadLine, { readonly kind: 'name' }>>();
  /** Of `pv_` ids: the digest of the source, as the change that added it says, or the service. */
  private readonly sources = new Map<string, string>();
  /** Those of them whose change is in the bundle, with its data. */
  private readonly learnt = new Set<string>();
  readonly configs = new ConnectorConfigs();

  private readonly checked = new Set<string>();

  /** An assertion of a passkey, or a signed intent, that was checked, and is right. */
  check(seq: number, member: string): void {
    this.checked.add(`${seq} ${member}`);
  }

  isChecked(seq: number, member: string): boolean {
    return this.checked.has(`${seq} ${member}`);
  }

  /** Takes a line of payloads.ndjson that was verified. */
  take(line: PayloadLine): void {
    switch (line.kind) {
      case 'opened':
      case 'taken':
        return this.opened.add(line.member, line);
      case 'name':
        return this.names.tell(line.id, line.name);
      case 'told':
        if (line.document === 'policy_source') this.sources.set(line.id, line.digest);
        // The same text may be told of a version before the bundle, and proven of another one.
        if (!this.documents.has(line.digest)) this.documents.set(line.digest, line);
        return;
      case 'document':
        if (line.document === 'intent') this.opened.add('who.intent_hash', line);
        else this.documents.set(line.digest, line);
    }
  }

  /** Takes what a change tells about the deeds around it; its data must have been taken before. */
  learn(deed: DeedBody): void {
    this.names.learn(deed, this.opened);
    this.configs.learn(deed, this.opened);
    if (deed.admin?.action !== 'policy.version_added') return;
    const data = this.opened.dataOf(deed.seq);
    const [version, source] = [textOf(data?.['version_id']), textOf(data?.['source_hash'])];
    if (version === null || source === null) return;
    this.sources.set(version, source);
    this.learnt.add(version);
  }

  /** The source of a policy version. */
  policyText(versionId: string): GivenDocument {
    const digest = this.sources.get(versionId);
    const line = digest === undefined ? undefined : this.documents.get(digest);
    if (line === undefined) return { given: NOT_GIVEN, isProven: true };
    return { given: givenBy(line), isProven: this.learnt.has(versionId) };
  }

  /** What the opened data of a change name by this digest. */
  document(digest: string): Given {
    const line = this.documents.get(digest);
    return line === undefined ? NOT_GIVEN : givenBy(line);
  }
}
