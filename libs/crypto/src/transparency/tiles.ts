import { CompactRange, joinSubtrees, rootOf, type TreeNode } from './compact-range.js';
import { EMPTY_ROOT, HASH_BYTES, isHash } from './merkle-hash.js';
import type { NodeHashes } from './merkle-proof.js';
import { isCount } from './strict-text.js';

/** Tiles are subtrees of height 8: 256 hashes, 8,192 bytes (tlog-tiles, Merkle Tree). */
export const TILE_HASHES = 256;
export const TILE_BYTES = TILE_HASHES * HASH_BYTES;
const TILE_HEIGHT = 8;

/** Which tile: its level, 0 for leaf hashes, and its index in the level. */
export interface TileId {
  readonly level: number;
  readonly index: number;
}

/** A full tile. It never changes. */
export interface Tile extends TileId {
  /** 8,192 bytes. */
  readonly hashes: Uint8Array;
}

/**
 * What a tree needs beside its full tiles: its size, and the hashes of its partial tiles one behind the other, level 0
 * first. The size says how many each level has, `floor(size / 256^level) mod 256`, so nothing else has to be kept.
 */
export interface Frontier {
  readonly size: number;
  readonly hashes: Uint8Array;
}

/** Why tiles cannot be those of a tree. Closed. `node`: it is no complete subtree of the tree. */
export type TileReason = 'frontier' | 'tile' | 'node';

/** Stored hashes that are not what they must be by their number: a fault of the store, not of a reader. */
export class TileError extends Error {
  override readonly name = 'TileError';

  constructor(readonly reason: TileReason) {
    super(`tiles refused: ${reason}`);
  }
}

export const EMPTY_FRONTIER: Frontier = { size: 0, hashes: new Uint8Array(0) };

const NO_TILES: readonly Tile[] = [];

/** One partial tile that fills up. */
interface GrowingTile {
  readonly hashes: Uint8Array;
  width: number;
  /** How many full tiles of the level there are. */
  full: number;
}

/** The partial tiles of a frontier by their level, without the empty ones behind the last. Throws `TileError`. */
const partialTiles = ({ size, hashes }: Frontier): readonly Uint8Array[] => {
  if (!isCount(size)) throw new TileError('frontier');
  const tiles: Uint8Array[] = [];
  let offset = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / TILE_HASHES)) {
    const end = offset + (rest % TILE_HASHES) * HASH_BYTES;
    tiles.push(hashes.subarray(offset, end));
    offset = end;
  }
  if (offset !== hashes.byteLength) throw new TileError('frontier');
  return tiles;
};

/**
 * A tree that grows leaf by leaf and gives its full tiles out, each once and as soon as it is full. It holds the partial
 * tiles only: at most 255 hashes a level, whatever the size.
 */
export class TileBuilder {
  readonly #levels: GrowingTile[];
  #size: number;

  /** Goes on where a frontier stands. Throws `TileError` for one that does not fit its own size. */
  constructor(frontier: Frontier = EMPTY_FRONTIER) {
    this.#size = frontier.size;
    this.#levels = partialTiles(frontier).map((partial, level) => {
      const hashes = new Uint8Array(TILE_BYTES);
      hashes.set(partial);
      const full = Math.floor(frontier.size / TILE_HASHES ** (level + 1));
      return { hashes, width: partial.byteLength / HASH_BYTES, full };
    });
  }

  get size(): number {
    return this.#size;
  }

  /** Appends a leaf, and gives the tiles that it completes, from level 0 up. Throws `RangeError` for no hash. */
  append(leafHash: Uint8Array): readonly Tile[] {
    if (!isHash(leafHash)) throw new RangeError('a hash has 32 bytes');
    if (!isCount(this.#size + 1)) throw new RangeError('the tree is full');
    this.#size += 1;
    let tile = this.#put(0, leafHash);
    if (tile === null) return NO_TILES;
    const tiles: Tile[] = [];
    while (tile !== null) {
      tiles.push(tile);
      tile = this.#put(tile.level + 1, rootOf(hashesIn(tile.hashes)));
    }
    return tiles;
  }

  #put(level: number, hash: Uint8Array): Tile | null {
    const growing = (this.#levels[level] ??= { hashes: new Uint8Array(TILE_BYTES), width: 0, full: 0 });
    growing.hashes.set(hash, growing.width * HASH_BYTES);
    growing.width += 1;
    if (growing.width < TILE_HASHES) return null;
    const tile = { level, index: growing.full, hashes: Uint8Array.from(growing.hashes) };
    growing.width = 0;
    growing.full += 1;
    return tile;
  }

  /** What to keep beside the full tiles, in order to go on from here. */
  frontier(): Frontier {
    const bytes = this.#levels.flatMap((tile) => [...partialOf(tile)]);
    return { size: this.#size, hashes: Uint8Array.from(bytes) };
  }

  /** The Merkle Tree Hash of all leaves. */
  root(): Uint8Array {
    if (this.#size === 0) return EMPTY_ROOT;
    // What a partial tile stands for lies right of everything in the levels above it.
    const parts = this.#levels.map((tile) => subtreesOf(hashesIn(partialOf(tile)))).reverse();
    return joinSubtrees(parts.flat());
  }
}

const partialOf = ({ hashes, width }: GrowingTile): Uint8Array => hashes.subarray(0, width * HASH_BYTES);

const hashesIn = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, index) =>
    bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );

const subtreesOf = (hashes: readonly Uint8Array[]): readonly Uint8Array[] => {
  const range = new CompactRange();
  for (const hash of hashes) range.append(hash);
  return range.subtrees();
};

/**
 * The nodes of a tree whose full tiles are stored: `readTiles` gives the 8,192 bytes of each, in the order in which it is
 * asked, and every tile once a question. Proofs in all trees up to the frontier's size can be made from it.
 */
export const hashesInTiles = (
  frontier: Frontier,
  readTiles: (tiles: readonly TileId[]) => Promise<readonly Uint8Array[]>,
): NodeHashes => {
  const partial = partialTiles(frontier);
  const isFull = ({ level, index }: TileId): boolean => (index + 1) * TILE_HASHES ** (level + 1) <= frontier.size;
  return {
    read: async (nodes) => {
      const places = nodes.map(placeOf);
      const wanted = new Map(places.map(({ tile }) => [nameOf(tile), tile]));
      const full = [...wanted.values()].filter(isFull);
      const read = full.length === 0 ? [] : await readTiles(full);
      const tiles = new Map(full.map((tile, index) => [nameOf(tile), fullTile(read[index])]));
      return places.map(({ tile, offset, width }) => {
        const bytes = isFull(tile) ? tiles.get(nameOf(tile)) : partialAt(frontier, partial, tile);
        const own = bytes?.subarray(offset * HASH_BYTES, (offset + width) * HASH_BYTES);
        if (own?.byteLength !== width * HASH_BYTES) throw new TileError('node');
        return rootOf(hashesIn(own));
      });
    },
  };
};

const nameOf = ({ level, index }: TileId): string => `${level}/${index}`;

const fullTile = (bytes: Uint8Array | undefined): Uint8Array => {
  if (bytes?.byteLength !== TILE_BYTES) throw new TileError('tile');
  return bytes;
};

/** Only the last tile of a level is partial. */
const partialAt = ({ size }: Frontier, partial: readonly Uint8Array[], tile: TileId): Uint8Array | undefined =>
  tile.index === Math.floor(size / TILE_HASHES ** (tile.level + 1)) ? partial[tile.level] : undefined;

/** A node is `width` hashes of one tile, from `offset` on. */
const placeOf = ({ level, index }: TreeNode): { tile: TileId; offset: number; width: number } => {
  const width = 2 ** (level % TILE_HEIGHT);
  const first = index * width;
  const tile = { level: Math.floor(level / TILE_HEIGHT), index: Math.floor(first / TILE_HASHES) };
  return { tile, offset: first % TILE_HASHES, width };
};
