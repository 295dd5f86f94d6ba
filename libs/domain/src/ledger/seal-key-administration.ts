import { SigningKey } from '#libs/crypto';
import {
  DomainError,
  ONLY_STREAM,
  streamRef,
  type CommandMetadata,
  type CommandRunner,
  type FoldedStreams,
  type Timestamp,
} from '../kernel/index.js';
import { nextSeal, sealKeyDecider, type SealKey, type SealKeys } from './seal-key.decider.js';
import type { SealKeyRing } from './sealing.ports.js';

/** How a deployment's seal keys come and go (rules DEED-3 and DEED-9). */
export class SealKeyAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly keyRing: SealKeyRing,
  ) {}

  async list(): Promise<SealKeys> {
    return (await this.streams.load(streamRef(sealKeyDecider, ONLY_STREAM))).state;
  }

  /** A new key, stored before it is registered. A live sealer then proves that it can sign with it. */
  async register(metadata: CommandMetadata): Promise<SealKey> {
    const key = SigningKey.generate();
    await this.keyRing.store(key);
    const data = { kid: key.publicKey.kid, publicKey: key.publicKey.text };
    return this.run({ type: 'RegisterSealKey', data, metadata }, data.kid);
  }

  /** Where no sealer runs, the caller signs the test itself: it holds the sealer's lease. */
  async prove(kid: string, metadata: CommandMetadata): Promise<SealKey> {
    const data = { kid, signature: proofOf(await this.keyRing.open(kid)) };
    return this.run({ type: 'ProveSealKey', data, metadata }, kid);
  }

  /**
   * The key seals at once; the others retire after the overlap.
   * @param sealedUntil the latest `issued_at` of any ledger (`LedgerReader.latestIssuedAt`), read after the proof
   * @throws {DomainError} conflict, not_found, validation_failed
   */
  async activate(
    kid: string,
    { overlapMs, sealedUntil }: { overlapMs: number; sealedUntil: Timestamp | null },
    metadata: CommandMetadata,
  ): Promise<SealKey> {
    return this.run({ type: 'ActivateSealKey', data: { kid, overlapMs, sealedUntil }, metadata }, kid);
  }

  /** Deeds under it are no longer valid. @throws {DomainError} not_found */
  async revoke(kid: string, reason: string | null, metadata: CommandMetadata): Promise<SealKey> {
    return this.run({ type: 'RevokeSealKey', data: { kid, reason }, metadata }, kid);
  }

  /** The key that would seal a first deed now, however the clock stands; null when none would. */
  async active(now: Timestamp): Promise<SealKey | null> {
    return nextSeal(await this.list(), now)?.key ?? null;
  }

  private async run(command: Parameters<typeof sealKeyDecider.decide>[0], kid: string): Promise<SealKey> {
    const { folded } = await this.runner.run(sealKeyDecider, ONLY_STREAM, command, command.metadata);
    const key = folded.state.find((known) => known.kid === kid);
    if (!key) throw new DomainError('not_found');
    return key;
  }
}

/** What a sealer signs to show that it can: under a tag of its own, so it is neither a deed nor an intent. */
export const proofOf = (key: SigningKey): string =>
  Buffer.from(key.sign(Buffer.from(`service/seal-key-proof/v1\n${key.publicKey.kid}`))).toString('base64url');
