import type { Digest } from '#libs/crypto';
import { type StoredDefinition, type ToolDefinition, ToolDefinitions } from '#libs/domain/connectors';

/** Definitions in memory, by their digests; the rows are a spec of their own. */
export class HeldDefinitions extends ToolDefinitions {
  readonly bodies = new Map<Digest, string>();

  override put(_place: unknown, definitions: readonly ToolDefinition[]): Promise<void> {
    for (const { digest, body } of definitions) this.bodies.set(digest, body);
    return Promise.resolve();
  }

  override get(): Promise<ReadonlyMap<Digest, string>> {
    return Promise.resolve(this.bodies);
  }

  override removeOlder(): Promise<void> {
    return Promise.resolve();
  }

  override async *olderThan(): AsyncIterable<StoredDefinition> {
    // None is ever old.
  }
}
