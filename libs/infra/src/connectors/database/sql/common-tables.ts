/** Names of common table expressions, as they are seen from one place of a statement. */
export class CommonTables {
  static readonly NONE = new CommonTables(new Set(), null);

  private constructor(
    private readonly names: ReadonlySet<string>,
    private readonly outer: CommonTables | null,
  ) {}

  with(names: readonly string[]): CommonTables {
    return names.length === 0 ? this : new CommonTables(new Set(names), this);
  }

  has(name: string): boolean {
    return this.names.has(name) || (this.outer?.has(name) ?? false);
  }
}
