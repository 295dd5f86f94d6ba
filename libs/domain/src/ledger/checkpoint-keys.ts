import {
  ed25519NoteSigner,
  encodeHex,
  parsePublicKeyText,
  SIGNATURE_TYPE,
  SigningKey,
  type SigningNoteKey,
  type Vkey,
  vkeyOf,
} from '#libs/crypto';
import {
  DomainError,
  type Logger,
  ONLY_STREAM,
  streamRef,
  SYSTEM,
  timestampOf,
  type Clock,
  type CommandMetadata,
  type CommandRunner,
  type FoldedStreams,
  failpoint,
  type Randomness,
} from '../kernel/index.js';
import {
  type CheckpointKey,
  checkpointKeyDecider,
  type CheckpointKeys,
  signingCheckpointKeys,
} from './checkpoint-key.decider.js';
import type { CheckpointKeyRing } from './checkpoint.ports.js';
import { checkedSealKeyOverlap } from './seal-key.decider.js';

/** The keys of an origin: those that sign now, and those that sign no more. */
export interface SigningKeys {
  readonly signers: readonly { readonly key: CheckpointKey; readonly signer: SigningNoteKey }[];
  readonly ended: readonly { readonly key: CheckpointKey; readonly vkey: Vkey }[];
}

/**
 * The keys by which a deployment signs checkpoints: of its own, so that whoever holds a seal key signs no tree, and one
 * for all organizations. Its name in a note is the origin, so each organization has its own verifier key.
 */
export class CheckpointSigningKeys {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly keyRing: CheckpointKeyRing,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness; readonly logger: Logger },
  ) {}

  /** Those of which this process has said that they do not open. */
  private readonly told = new Set<string>();

  async list(): Promise<CheckpointKeys> {
    return (await this.streams.load(streamRef(checkpointKeyDecider, ONLY_STREAM))).state;
  }

  /**
   * The keys of an origin, the first one made where there is none yet. A key that was rotated out and does not open, because it was
   * lost, holds nobody up: the one that took its place signs alone, and the chain says that the other signs no more.
   * @throws {DomainError} `vault_unavailable` when the key that is to stay does not open
   */
  async signing(origin: string): Promise<SigningKeys> {
    const now = timestampOf(this.sources.clock.nowMs());
    const known = await this.list();
    const keys = signingCheckpointKeys(known, now).length > 0 ? known : await this.makeFirst();
    const opened = await Promise.all(signingCheckpointKeys(keys, now).map((key) => this.opened(key)));
    const signing = opened.filter((each) => each !== null);
    const ended = keys.filter((key) => !signing.some((each) => each.key === key));
    return {
      signers: signing.map(({ key, privateKey }) => ({ key, signer: ed25519NoteSigner(origin, privateKey) })),
      ended: ended.map((key) => ({ key, vkey: checkpointVkey(origin, key.publicKey) })),
    };
  }

  /** The keys that should sign now and do not open: until they are retired, whoever trusts them alone finds no line of theirs. */
  async closed(): Promise<CheckpointKeys> {
    const signing = signingCheckpointKeys(await this.list(), timestampOf(this.sources.clock.nowMs()));
    const opened = await Promise.all(
      signing.map((key) => this.keyRing.open(kidOf(key.publicKey)).then(() => true, unlessItIsClosed)),
    );
    return signing.filter((_, index) => opened[index] === false);
  }

  /** Null for one that was rotated out and does not open. */
  private async opened(
    key: CheckpointKey,
  ): Promise<{ readonly key: CheckpointKey; readonly privateKey: SigningKey } | null> {
    const kid = kidOf(key.publicKey);
    try {
      return { key, privateKey: await this.keyRing.open(kid) };
    } catch (error) {
      if (key.retiredAt === null) throw error;
      unlessItIsClosed(error);
      const message = 'a checkpoint key that was rotated out does not open: the other one signs alone';
      if (!this.told.has(kid)) this.sources.logger.warn(message, { kid, retires_at: key.retiredAt, error });
      this.told.add(kid);
      return null;
    }
  }

  /**
   * Makes a new key that signs from now on; the others sign beside it until the overlap is over, so that whoever is to
   * trust the new one has the time to.
   * @throws {DomainError} `validation_failed` for an overlap out of range
   */
  async rotate(overlapMs: number, metadata: CommandMetadata): Promise<CheckpointKeys> {
    const end = Date.parse(metadata.now) + checkedSealKeyOverlap(overlapMs);
    return this.register(timestampOf(end), metadata);
  }

  private makeFirst(): Promise<CheckpointKeys> {
    const { clock, randomness } = this.sources;
    const commandId = encodeHex(randomness.bytes(16));
    const now = timestampOf(clock.nowMs());
    return this.register(null, { org: null, actor: SYSTEM, requestId: null, commandId, now });
  }

  /** The key is stored before anything names it. One that another process was quicker than stays unused. */
  private async register(othersRetireAt: string | null, metadata: CommandMetadata): Promise<CheckpointKeys> {
    const key = SigningKey.generate();
    await this.keyRing.store(key);
    await failpoint('ckpt.key');
    const data = { publicKey: key.publicKey.text, othersRetireAt };
    const command = { type: 'RegisterCheckpointKey' as const, data, metadata };
    const { folded } = await this.runner.run(checkpointKeyDecider, ONLY_STREAM, command, metadata);
    return folded.state;
  }
}

/** @throws what is no word about the key itself */
const unlessItIsClosed = (error: unknown): false => {
  if (error instanceof DomainError && error.code === 'vault_unavailable') return false;
  throw error;
};

export const kidOf = (publicKey: string): string => parsePublicKeyText(publicKey).kid;

/** What a reader or a witness configures: the key under the name of one organization's tree. */
export const checkpointVkey = (origin: string, publicKey: string): Vkey =>
  vkeyOf(origin, SIGNATURE_TYPE.ed25519, parsePublicKeyText(publicKey).bytes);
