import { DomainError, derivedId, type KeyId, type Randomness } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';
import { mintApiKey, type KeyDirectory, type KeyHasher, type KeyHolder } from './api-key.js';

/** Two prefixes of 40 random bits meet once in a million keys: a few tries always suffice. */
const MAX_ATTEMPTS = 5;

export interface IssuedKey {
  readonly record: KeyRecord;
  /** The whole key, shown once. */
  readonly secret: string;
}

/** Makes keys. The prefix row is written before the event that makes the key real, and means nothing without it. */
export class IssueKeys {
  constructor(
    private readonly directory: KeyDirectory,
    private readonly hasher: KeyHasher,
    private readonly randomness: Randomness,
  ) {}

  /**
   * The id is the command's own, so that a retry names the key that the first try made. The secret of a retry is
   * another one, and opens nothing.
   */
  async mint(holder: KeyHolder, livemode: boolean, commandId: string): Promise<IssuedKey> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const minted = mintApiKey(livemode, this.randomness.bytes(40));
      if (!(await this.directory.claim(minted.prefix, holder))) continue;
      const key: KeyId = derivedId('key', commandId);
      const record = { key, prefix: minted.prefix, hash: this.hasher.hash(minted.secret), livemode };
      return { record, secret: minted.text };
    }
    throw new DomainError('service_unavailable');
  }
}
