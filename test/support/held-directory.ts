import { KEY_TOUCH_MS, KeyDirectory, type KeyHolder } from '#libs/domain/agents';

interface HeldPrefix {
  readonly holder: KeyHolder;
  readonly lastUsedMs: number | null;
}

/** Whose a key's prefix is, in memory. Directories on the same rows are processes of one deployment. */
export class HeldDirectory extends KeyDirectory {
  /** When this process last noted a use. */
  private readonly noted = new Map<string, number>();

  constructor(private readonly rows = new Map<string, HeldPrefix>()) {
    super();
  }

  override find(prefix: string): Promise<KeyHolder | null> {
    return Promise.resolve(this.rows.get(prefix)?.holder ?? null);
  }

  override claim(prefix: string, holder: KeyHolder): Promise<boolean> {
    if (this.rows.has(prefix)) return Promise.resolve(false);
    this.rows.set(prefix, { holder, lastUsedMs: null });
    return Promise.resolve(true);
  }

  override noteUse(prefix: string, nowMs: number): void {
    const notedMs = this.noted.get(prefix);
    if (notedMs !== undefined && nowMs - notedMs < KEY_TOUCH_MS) return;
    this.noted.set(prefix, nowMs);
    const row = this.rows.get(prefix);
    if (row && (row.lastUsedMs ?? 0) < nowMs) this.rows.set(prefix, { ...row, lastUsedMs: nowMs });
  }

  override lastUses(prefixes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const uses = prefixes.flatMap((prefix) => {
      const lastUsedMs = this.rows.get(prefix)?.lastUsedMs ?? null;
      return lastUsedMs === null ? [] : [[prefix, lastUsedMs] as const];
    });
    return Promise.resolve(new Map(uses));
  }
}
