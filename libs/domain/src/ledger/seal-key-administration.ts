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

/** Registers, activates and revokes a deployment's seal keys (rules DEED-3 and DEED-9). */
export class SealKeyAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly keyRing: SealKeyRing,
  ) {}

  async list(): Promise<SealKeys> {
    return (await this.streams.load(streamRef(sealKeyDecider, ONLY_STREAM))).state;
  }

  /** Makes a new key and stores it before it is registered. A running sealer then proves that it can sign with it. */
  async register(metadata: CommandMetadata): Promise<SealKey> {
    const key = SigningKey.generate();
    await this.keyRing.store(key);
    const data = { kid: key.publicKey.kid, publicKey: key.publicKey.text };
    return this.run({ type: 'RegisterSealKey', data, metadata }, data.kid);
  }

  /** Signs the proof itself, for a caller that holds the sealer's lease because no sealer runs. */
  async prove(kid: string, metadata: CommandMetadata): Promise<SealKey> {
    const data = { kid, signature: proofOf(await this.keyRing.open(kid)) };
    return this.run({ type: 'ProveSealKey', data, metadata }, kid);
  }

  /**
   * Activates a key: it seals at once, and the other active keys retire after the overlap.
   * @param sealedUntil the latest `issued_at` of any ledger (`LedgerReader.latestIssuedAt`), read after the proof
   * @throws {DomainError} `conflict`, `not_found` or `validation_failed`
   */
  async activate(
    kid: string,
    { overlapMs, sealedUntil }: { overlapMs: number; sealedUntil: Timestamp | null },
    metadata: CommandMetadata,
  ): Promise<SealKey> {
    return this.run({ type: 'ActivateSealKey', data: { kid, overlapMs, sealedUntil }, metadata }, kid);
  }

  /**
   * Revokes a key: deeds under it are no longer valid.
   * @throws {DomainError} `not_found` when there is no such key
   */
  async revoke(kid: string, reason: string | null, metadata: CommandMetadata): Promise<SealKey> {
    return this.run({ type: 'RevokeSealKey', data: { kid, reason }, metadata }, kid);
  }

  /** The key that would seal the first deed of a ledger now, even if the clock was set back; null if none would. */
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

/**
 * The signature by which a sealer shows that it can use a key. Its text has a tag of its own, so it can pass neither
 * for a deed nor for an intent.
 */
export const proofOf = (key: SigningKey): string =>
  Buffer.from(key.sign(Buffer.from(`service/seal-key-proof/v1\n${key.publicKey.kid}`))).toString('base64url');
