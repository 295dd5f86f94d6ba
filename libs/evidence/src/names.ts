import type { DeedBody, JsonValue } from '#libs/crypto';
import { type OpenedMembers, textOf } from './given.js';

/** What an id is called. `isProven`: a deed of this bundle holds the name; else it is the service's word. */
export interface Named {
  readonly id: string;
  readonly name: string | null;
  readonly isProven: boolean;
}

/** The changes whose data give a thing its name. */
const NAMING: ReadonlySet<string> = new Set(['org.created', 'agent.created', 'connector.created', 'policy.created']);

const namesIn = (fields: JsonValue | undefined): boolean => Array.isArray(fields) && fields.includes('name');

/** What the ids of a bundle are called, as its changes and its lines of names tell. */
export class Names {
  private readonly told = new Map<string, string>();
  private readonly proven = new Map<string, string>();
  /** Of `pv_` ids: which policy a version is of, and its number. */
  private readonly versions = new Map<string, { readonly policy: string; readonly version: number | null }>();

  /** A name on the service's word. */
  tell(id: string, name: string): void {
    this.told.set(id, name);
  }

  /** A change with its opened data. */
  learn({ seq, admin }: DeedBody, opened: OpenedMembers): void {
    const data = admin === null ? null : opened.dataOf(seq);
    if (admin === null || data === null) return;
    const name = textOf(data['name']);
    if (NAMING.has(admin.action) && name !== null) this.proven.set(admin.target.id, name);
    const version = textOf(data['version_id']);
    // A deed does not say how it is called since; what it was called before would be taken for its name.
    if (admin.action === 'org.updated' && namesIn(data['fields'])) this.proven.delete(admin.target.id);
    if (admin.action === 'policy.version_added' && version !== null) {
      const number = data['version'];
      this.versions.set(version, { policy: admin.target.id, version: typeof number === 'number' ? number : null });
    }
  }

  of(id: string): Named {
    const name = this.proven.get(id) ?? this.told.get(id) ?? null;
    return { id, name, isProven: this.proven.has(id) };
  }

  /** The number of a policy version within its policy. */
  numberOf(versionId: string): number | null {
    return this.versions.get(versionId)?.version ?? null;
  }

  /** Every id whose name or id holds the text, in whatever case. */
  idsLike(text: string): ReadonlySet<string> {
    const sought = text.toLowerCase();
    const found = [...this.told, ...this.proven].filter(([, name]) => name.toLowerCase().includes(sought));
    return new Set([text, ...found.map(([id]) => id)]);
  }
}
