import {
  digestOf,
  type Digest,
  EMPTY_FRONTIER,
  type Frontier,
  hashesInTiles,
  isSameHash,
  leafHash,
  type NodeHashes,
  rootOfTree,
  type Tile,
  type TileId,
  TileBuilder,
  TileError,
} from '#libs/crypto';
import {
  DamagedEvent,
  decodeEvent,
  type Logger,
  StoreUnavailable,
  type OrgId,
  type RecordedEvent,
} from '../kernel/index.js';
import type { LedgerTreeRows } from './checkpoint.ports.js';
import type { LedgerEvent } from './deed.events.js';
import type { LedgerReader } from './ledger-reader.js';
import type { SignedRoot } from './proven-answers.js';

/** Leaves that are written at once: the most that a crash makes again. */
const LEAVES_AT_ONCE = 1_024;

/** A stored deed that is not what was sealed, or does not follow the one before: no leaf may be made of it. */
export class AlteredDeed extends Error {
  override readonly name = 'AlteredDeed';
  constructor(
    org: OrgId,
    readonly seq: number,
  ) {
    super(
      `Deed ${seq} of ${org} is not stored as it was sealed, or does not follow the one before. Run \`npm run ags -- audit\`.`,
    );
  }
}

/** Another process made the tree grow meanwhile: whoever asks again finds it grown. */
export class TreeMoved extends StoreUnavailable {
  constructor(org: OrgId) {
    super(`The tree of ${org} is being made by another process. Try again in a moment.`);
  }
}

/** The hashes of a tree that has at least the size that was asked for, and proofs in all smaller ones. */
export interface GrownTree {
  readonly size: number;
  readonly hashes: NodeHashes;
}

/**
 * The Merkle trees of ledgers (RFC 6962): the leaf of deed `seq` is the 32 bytes of its `body_hash`, at index `seq - 1`.
 * What is stored of them is made from the ledger alone, and made again where it cannot be.
 */
export class LedgerTrees {
  /** Of each organization the size for which its hashes were made again last, by this process. */
  private readonly mending = new Map<OrgId, { readonly size: number; readonly done: Promise<GrownTree | null> }>();

  constructor(
    private readonly ledger: Pick<LedgerReader, 'lastSeq' | 'recordAt' | 'records'>,
    private readonly rows: LedgerTreeRows,
    private readonly logger: Logger,
  ) {}

  /** The tree as it is stored, for proofs in trees that were signed. A frontier that is none is one that was lost. */
  async stored(org: OrgId): Promise<GrownTree> {
    const frontier = await this.rows.frontier(org);
    try {
      return this.treeOf(org, frontier);
    } catch (error) {
      if (error instanceof TileError) return this.treeOf(org, EMPTY_FRONTIER);
      throw error;
    }
  }

  /**
   * The tree of at least the first `size` deeds, which the ledger has.
   * @throws {AlteredDeed}
   * @throws {TreeMoved}
   * @throws {StoreUnavailable}
   */
  async grownTo(org: OrgId, size: number): Promise<GrownTree> {
    let frontier = await this.rows.frontier(org);
    const before = await this.lastLeafOf(org, frontier);
    if (before === null) return this.madeAnew(org, size);
    if (frontier.size < size) frontier = await this.grow(org, frontier, size, before);
    return this.treeOf(org, frontier);
  }

  /** From the first deed on, whatever is stored. */
  async madeAnew(org: OrgId, size: number): Promise<GrownTree> {
    await this.rows.remove(org);
    return this.treeOf(org, await this.grow(org, EMPTY_FRONTIER, size, NO_DEED));
  }

  /**
   * The tree after its stored hashes were found to prove nothing: grown where they are too few, else made anew. Once for a size,
   * whoever asks: what was made of the deeds is not made better by making it again.
   * @returns null where the deeds do not lead to the signed root
   * @throws {StoreUnavailable} also while another process makes it
   */
  async mended(org: OrgId, signed: SignedRoot): Promise<GrownTree | null> {
    const before = this.mending.get(org);
    if (before?.size === signed.size) return before.done;
    const done = this.mend(org, signed).catch((error: unknown) => {
      this.mending.delete(org);
      throw error;
    });
    this.mending.set(org, { size: signed.size, done });
    return done;
  }

  private async mend(org: OrgId, { size, root }: SignedRoot): Promise<GrownTree | null> {
    const about = { org_id: org, deeds: String(size) };
    let fault: unknown = null;
    try {
      const isWhole = (await this.rows.frontier(org)).size >= size;
      if (isWhole) this.logger.warn('stored hashes of a ledger prove nothing and are made anew from its deeds', about);
      const tree = await (isWhole ? this.madeAnew(org, size) : this.grownTo(org, size));
      if (isSameHash(await rootOfTree(tree.hashes, size), root)) return tree;
    } catch (error) {
      if (!(error instanceof AlteredDeed)) throw error;
      fault = error;
    }
    this.logger.error('a ledger does not lead to what was signed of it: no proof is given', { ...about, error: fault });
    return null;
  }

  /** Which of the stored hashes are not those that the ledger gives; the frontier has no place of its own. */
  async differences(org: OrgId): Promise<TreeDifferences> {
    const stored = await this.rows.frontier(org);
    const builder = new TileBuilder();
    const different: TileId[] = [];
    for await (const bodyHash of this.bodyHashes(org, 0, stored.size, NO_DEED)) {
      const made = builder.append(leafOf(bodyHash));
      if (made.length === 0) continue;
      const found = await this.rows.tiles(org, made);
      different.push(...made.filter(({ hashes }, index) => !isSameHash(hashes, found[index] ?? NO_BYTES)));
    }
    const isFrontierSame = isSameHash(builder.frontier().hashes, stored.hashes);
    return { size: stored.size, tiles: different.map(({ level, index }) => ({ level, index })), isFrontierSame };
  }

  private treeOf(org: OrgId, frontier: Frontier): GrownTree {
    return { size: frontier.size, hashes: hashesInTiles(frontier, (ids) => this.rows.tiles(org, ids)) };
  }

  /**
   * The deed that the stored tree ends with; null where the ledger has another one there, or the tree is not whole. Each
   * deed holds the digest of the one before, so where the last is the same, all are.
   */
  private async lastLeafOf(org: OrgId, frontier: Frontier): Promise<LastDeed | null> {
    const { size } = frontier;
    if (size === 0) return NO_DEED;
    const recorded = await this.ledger.recordAt(org, size);
    if (recorded === null) return null;
    const { body_hash: bodyHash } = soundDeed(org, recorded, size);
    try {
      const [leaf] = await this.treeOf(org, frontier).hashes.read([{ level: 0, index: size - 1 }]);
      return leaf !== undefined && isSameHash(leaf, leafOf(bodyHash)) ? { bodyHash } : null;
    } catch (error) {
      if (error instanceof TileError) return null;
      throw error;
    }
  }

  private async grow(org: OrgId, from: Frontier, size: number, before: LastDeed): Promise<Frontier> {
    const builder = new TileBuilder(from);
    let [written, tiles]: [number, Tile[]] = [from.size, []];
    const write = async (): Promise<void> => {
      if (!(await this.rows.grow(org, written, tiles, builder.frontier()))) throw new TreeMoved(org);
      [written, tiles] = [builder.size, []];
    };
    for await (const bodyHash of this.bodyHashes(org, from.size, size, before)) {
      tiles.push(...builder.append(leafOf(bodyHash)));
      if (builder.size - written >= LEAVES_AT_ONCE) await write();
    }
    if (builder.size > written) await write();
    return builder.frontier();
  }

  /** Of the deeds behind the first `from`, up to `size`: each sound, and linked to the one before. */
  private async *bodyHashes(org: OrgId, from: number, size: number, before: LastDeed): AsyncGenerator<Digest> {
    let [seq, last] = [from, before.bodyHash];
    for await (const recorded of this.ledger.records(org, from + 1, size)) {
      seq += 1;
      const deed = soundDeed(org, recorded, seq);
      if (deed.prev_hash !== last) throw new AlteredDeed(org, seq);
      last = deed.body_hash;
      yield last;
    }
    if (seq < size) throw new AlteredDeed(org, seq + 1);
  }
}

/** How far the stored hashes are, and which of them are others than the ledger gives. */
export interface TreeDifferences {
  readonly size: number;
  readonly tiles: readonly TileId[];
  readonly isFrontierSame: boolean;
}

const NO_BYTES = new Uint8Array(0);

interface LastDeed {
  /** Null before the first deed. */
  readonly bodyHash: Digest | null;
}

const NO_DEED: LastDeed = { bodyHash: null };

export const leafOf = (bodyHash: Digest): Uint8Array => leafHash(Buffer.from(bodyHash.slice('sha256:'.length), 'hex'));

const soundDeed = (org: OrgId, recorded: RecordedEvent, seq: number): LedgerEvent['data'] => {
  try {
    const { data } = decodeEvent<LedgerEvent>(recorded).event;
    if (data.seq === seq && recorded.revision === seq - 1 && digestOf(Buffer.from(data.body)) === data.body_hash) {
      return data;
    }
  } catch (error) {
    if (!(error instanceof DamagedEvent || error instanceof TypeError)) throw error;
  }
  throw new AlteredDeed(org, seq);
};
