import { randomBytes } from 'node:crypto';
import {
  decodeHex,
  ed25519Cosigner,
  encodeHex,
  EncodingError,
  isKeyName,
  type KnownKey,
  knownKey,
  ML_DSA_44_SEED_BYTES,
  MlDsa44SigningKey,
  mlDsa44Cosigner,
  type NoteSignature,
  PrivateKeyError,
  SIGNATURE_TYPE,
  signatureOf,
  SigningKey,
  type Vkey,
  vkeyOf,
} from '#libs/crypto';

/** The name of a witness stands in what its ML-DSA-44 key signs, which has room for so many bytes of it. */
export const MAX_WITNESS_NAME_BYTES = 255;

/** A file that holds no key of a witness. The message holds nothing of it. */
export class WitnessKeyError extends Error {
  override readonly name = 'WitnessKeyError';
}

/** The name that others know a witness by, as in `witness.example/w1`. */
export const isWitnessName = (text: string): boolean =>
  isKeyName(text) && Buffer.byteLength(text) <= MAX_WITNESS_NAME_BYTES;

/** The two keys of one witness, under its one name: the Ed25519 message does not hold the name, so no key has two. */
export class WitnessKey {
  readonly #ed25519: SigningKey;
  readonly #mlDsa44: MlDsa44SigningKey;
  /** What others configure, the Ed25519 key first. */
  readonly vkeys: readonly [ed25519: Vkey, mlDsa44: Vkey];
  /** Verifies what this witness said before. It costs a tenth of what the other one does. */
  readonly verifier: KnownKey;

  private constructor(
    readonly witnessName: string,
    ed25519: SigningKey,
    mlDsa44: MlDsa44SigningKey,
  ) {
    this.#ed25519 = ed25519;
    this.#mlDsa44 = mlDsa44;
    const known = vkeyOf(witnessName, SIGNATURE_TYPE.ed25519Cosignature, ed25519.publicKey.bytes);
    this.vkeys = [known, vkeyOf(witnessName, SIGNATURE_TYPE.mlDsa44Cosignature, mlDsa44.publicKey)];
    this.verifier = knownKey(known);
  }

  /** @throws {WitnessKeyError} for a name that is none */
  static generate(witnessName: string): WitnessKey {
    if (!isWitnessName(witnessName)) throw new WitnessKeyError('a witness cannot have this name');
    return new WitnessKey(witnessName, SigningKey.generate(), new MlDsa44SigningKey(randomBytes(ML_DSA_44_SEED_BYTES)));
  }

  /** Reads what `toFile` wrote. @throws {WitnessKeyError} */
  static fromFile(text: string): WitnessKey {
    const { version, name, ed25519, ml_dsa_44: seed } = membersOf(text);
    if (version !== 1 || typeof name !== 'string' || typeof ed25519 !== 'string' || typeof seed !== 'string') {
      throw new WitnessKeyError('it holds no key of a witness');
    }
    if (!isWitnessName(name)) throw new WitnessKeyError('it holds no key of a witness');
    try {
      const mlDsa44 = new MlDsa44SigningKey(decodeHex(seed, ML_DSA_44_SEED_BYTES));
      return new WitnessKey(name, SigningKey.fromPkcs8Pem(ed25519), mlDsa44);
    } catch (error) {
      if (!(error instanceof PrivateKeyError || error instanceof EncodingError || error instanceof RangeError)) {
        throw error;
      }
      throw new WitnessKeyError('it holds no key of a witness', { cause: error });
    }
  }

  /** The whole secret, name included: they belong together. For the key file only. */
  toFile(): string {
    const [ed25519, seed] = [this.#ed25519.toPkcs8Pem(), encodeHex(this.#mlDsa44.toSeed())];
    return `${JSON.stringify({ object: 'witness_key', version: 1, name: this.witnessName, ed25519, ml_dsa_44: seed })}\n`;
  }

  /** The lines of the answer, one a key. `timestamp` is in POSIX seconds and not zero. */
  cosign(text: string, timestamp: number): readonly NoteSignature[] {
    return [
      signatureOf(text, ed25519Cosigner(this.witnessName, this.#ed25519, timestamp)),
      signatureOf(text, mlDsa44Cosigner(this.witnessName, this.#mlDsa44, timestamp)),
    ];
  }

  /** So that a key that slips into a log shows its name only. */
  toJSON(): string {
    return this.witnessName;
  }
}

const membersOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new WitnessKeyError('it holds no key of a witness');
};
