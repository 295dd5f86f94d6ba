import { constants, inflateRawSync } from 'node:zlib';

/** Of a file that may be a bundle: enough for the first header of the archive inside, packed by any program. */
export const BEGINNING_BYTES = 2_048;
const GZIP_HEADER_BYTES = 10;
const TAR_BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const FIRST_FILE = 'manifest.json';

/** What a header of a bundle says in places where another program says something of the machine it ran on. */
const FIXED_FIELDS: readonly (readonly [field: string, offset: number, value: string])[] = [
  ['a mode', 100, '0000644\0'],
  ['an owner', 108, '0000000\0'],
  ['a group', 116, '0000000\0'],
  ['a time', 136, '00000000000\0'],
  ['another kind of tar', 257, 'ustar\x0000'],
  ['the name of an owner or a group', 265, '\0'.repeat(64)],
];

/**
 * What is wrong with the layout of the archive in a bundle, as far as its first header tells, as a sentence.
 * `beginning`: what the file begins with.
 */
export const layoutFault = (beginning: Buffer): string => {
  const block = firstBlock(beginning);
  if (block === null) return 'The archive inside is not laid out as a bundle (docs/deed-format.md).';
  const name = printable(block.toString('latin1', 0, NAME_BYTES).replace(/\0.*$/s, ''));
  if (name !== FIRST_FILE) {
    return `The first file of the archive is called "${name}": in a bundle ${FIRST_FILE} stands first, then keys.json and deeds.ndjson, without a folder.`;
  }
  const others = FIXED_FIELDS.filter(([, offset, value]) => !isAt(block, offset, value)).map(([field]) => field);
  if (others.length === 0) {
    return 'The archive inside is not laid out as a bundle, behind its first header: its files, their order, or what follows them.';
  }
  return `The headers of the archive say ${others.join(', ')}, which those of a bundle do not.`;
};

const isAt = (block: Buffer, offset: number, value: string): boolean =>
  block.toString('latin1', offset, offset + value.length) === value;

/** Names come from a file that anybody may have made: nothing of them drives a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

/** The first header of the archive, or null where it cannot be read. */
const firstBlock = (beginning: Buffer): Buffer | null => {
  try {
    const deflated = beginning.subarray(GZIP_HEADER_BYTES);
    const content = inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH });
    return content.length < TAR_BLOCK_BYTES ? null : content.subarray(0, TAR_BLOCK_BYTES);
  } catch {
    // zlib reads nothing in what it refuses.
    return null;
  }
};
