/** The tar archive of a bundle: POSIX.1-1988 ustar with one possible header for each name and size. */

export const TAR_BLOCK_BYTES = 512;

/** Two zero blocks end an archive; nothing follows them. */
export const TAR_END_BYTES = 2 * TAR_BLOCK_BYTES;

/** Eleven octal digits. */
const MAX_TAR_ENTRY_BYTES = 8 ** 11 - 1;

const SIZE_OFFSET = 124;
const SIZE_PATTERN = /^[0-7]{11}\0$/;

/**
 * The header of a regular file: mode 0644, owner 0, time 0, no user names, no prefix. Everything that an archive may
 * say beyond a name and a size (links, directories, devices, PAX and GNU extensions) has no spelling here.
 */
export const tarHeader = (name: string, sizeBytes: number): Buffer => {
  if (sizeBytes > MAX_TAR_ENTRY_BYTES) throw new RangeError('a bundle holds at most 8 GiB of deeds');
  const header = Buffer.alloc(TAR_BLOCK_BYTES);
  header.write(name, 0, 'ascii');
  header.write('0000644\0' + '0000000\0' + '0000000\0', 100, 'ascii');
  header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, SIZE_OFFSET, 'ascii');
  header.write('        0', 148, 'ascii');
  header.write('ustar\0' + '00', 257, 'ascii');
  header.write('0000000\0' + '0000000\0', 329, 'ascii');
  // The checksum sums the block with its own field read as eight spaces (written above).
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii');
  return header;
};

/**
 * The size that a header block states for the entry that must stand here, or null when the block is anything but the
 * header of that name: it is written again from its name and size and compared, so no second spelling passes.
 */
export const readTarHeader = (block: Buffer, name: string): number | null => {
  const size = block.toString('latin1', SIZE_OFFSET, SIZE_OFFSET + 12);
  if (!SIZE_PATTERN.test(size)) return null;
  const sizeBytes = Number.parseInt(size, 8);
  return tarHeader(name, sizeBytes).equals(block) ? sizeBytes : null;
};

/** The zero bytes that fill an entry up to a whole block. */
export const tarPaddingBytes = (sizeBytes: number): number =>
  (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
