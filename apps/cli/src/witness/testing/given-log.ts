/** A log that grows, forks and asks a witness, for the tests of the witness. */
import {
  consistencyProof,
  ed25519NoteSigner,
  encodeAddCheckpoint,
  encodeCheckpoint,
  encodeHex,
  hashesInMemory,
  leafHash,
  type NoteSigner,
  parseCheckpoint,
  parseSignedNote,
  rootOf,
  SigningKey,
  signNote,
} from '#libs/crypto';

export const ORG = 'org_01h2xcejqtf2nbrexx3vqjhp49';
export const ORIGIN = `governance.example/ledger/${ORG}`;

export interface AskedGrowth {
  readonly oldSize: number;
  readonly size: number;
  readonly proof?: readonly Uint8Array[];
  readonly root?: Uint8Array;
  readonly signers?: readonly NoteSigner[];
  readonly origin?: string;
}

/** One history of a log: forks share their first leaves. */
export class GivenLog {
  readonly signer;
  readonly #leaves: readonly Uint8Array[];

  constructor(
    readonly key: SigningKey,
    { origin = ORIGIN, branch = '', forkAt = Number.POSITIVE_INFINITY, length = 24 } = {},
  ) {
    this.signer = ed25519NoteSigner(origin, key);
    this.#leaves = Array.from({ length }, (_, index) =>
      leafHash(Buffer.from(index < forkAt ? `leaf ${index}` : `leaf ${index} of ${branch}`)),
    );
  }

  root(size: number): Uint8Array {
    return rootOf(this.#leaves.slice(0, size));
  }

  async proof(from: number, to: number): Promise<readonly Uint8Array[]> {
    return from === 0 || from >= to ? [] : consistencyProof(hashesInMemory(this.#leaves), from, to);
  }

  /** The body of a request: honest in everything that is not given. */
  async asks({ oldSize, size, proof, root, signers, origin }: AskedGrowth): Promise<Buffer> {
    const head = { origin: origin ?? this.signer.keyName, size, root: root ?? this.root(size) };
    const note = signNote(encodeCheckpoint(head), signers ?? [this.signer]);
    return Buffer.from(encodeAddCheckpoint({ oldSize, proof: proof ?? (await this.proof(oldSize, size)), note }));
  }
}

export const newLog = (options: ConstructorParameters<typeof GivenLog>[1] = {}): GivenLog =>
  new GivenLog(SigningKey.generate(), options);

/** What a note says: its size and its root in hex. */
export const treeIn = (note: Uint8Array): { readonly size: number; readonly root: string } => {
  const { size, root } = parseCheckpoint(parseSignedNote(note).text);
  return { size, root: encodeHex(root) };
};

/** What somebody outside has seen signed: fails where a witness contradicts itself. */
export class SeenStatements {
  readonly #roots = new Map<number, string>();
  #largest = 0;

  /** @returns what is wrong with it, null for nothing */
  see({ size, root }: { readonly size: number; readonly root: string }): string | null {
    const before = this.#roots.get(size);
    this.#roots.set(size, root);
    const largest = this.#largest;
    this.#largest = Math.max(largest, size);
    if (before !== undefined && before !== root) return `two roots of size ${size}`;
    return size < largest ? `${size} after ${largest}` : null;
  }
}
