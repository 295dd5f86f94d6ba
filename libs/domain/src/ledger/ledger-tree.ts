import {
  digestOf,
  type Digest,
  EMPTY_FRONTIER,
  type Frontier,
  hashesInTiles,
  isSameHash,
  leafHash,
  type NodeHashes,
  type Tile,
  type TileId,
  TileBuilder,
  TileError,
} from '#libs/crypto';
import { DamagedEvent, decodeEvent, StoreUnavailable, type OrgId, type RecordedEvent } from '../kernel/index.js';
import type { LedgerTreeRows } from './checkpoint.ports.js';
import type { LedgerEvent } from './deed.events.js';
import type { LedgerReader } from './ledger-reader.js';

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
  constructor(
    private readonly ledger: Pick<LedgerReader, 'lastSeq' | 'recordAt' | 'records'>,
    private readonly rows: LedgerTreeRows,
  ) {}

  /** The tree as it is stored, for proofs in trees that were signed. */
  async stored(org: OrgId): Promise<GrownTree> {
    return this.treeOf(org, await this.rows.frontier(org));
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
