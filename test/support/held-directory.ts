import { KeyDirectory, type KeyHolder } from '#libs/domain/agents';

/** Whose a key's prefix is, in memory. */
export class HeldDirectory extends KeyDirectory {
  private readonly holders = new Map<string, KeyHolder>();
  private readonly uses = new Map<string, number>();

  override find(prefix: string): Promise<KeyHolder | null> {
    return Promise.resolve(this.holders.get(prefix) ?? null);
  }

  override claim(prefix: string, holder: KeyHolder): Promise<boolean> {
    if (this.holders.has(prefix)) return Promise.resolve(false);
    this.holders.set(prefix, holder);
    return Promise.resolve(true);
  }

  override noteUse(prefix: string, nowMs: number): void {
    this.uses.set(prefix, nowMs);
  }

  override lastUses(prefixes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(new Map([...this.uses].filter(([prefix]) => prefixes.includes(prefix))));
  }
}
