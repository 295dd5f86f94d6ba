import { gzipHeaderFault, type VerdictReason } from '#libs/crypto';
import { reasonSentence } from './reason-sentence.js';

/** The name of the first file, which the header block of the archive begins with. */
const TAR_OPENING = Buffer.from('manifest.json\0');

const UNPACKED =
  'The file is the archive of a bundle without its gzip: it was unpacked. Packed by gzip -n, it is a bundle again.';

/** What to say of a bundle that was unpacked, as some browsers do with what they save; null of any other file. */
export const unpackedSentence = (beginning: Uint8Array): string | null =>
  TAR_OPENING.equals(beginning.subarray(0, TAR_OPENING.length)) ? UNPACKED : null;

/**
 * What a reason of a verdict means. What stands in the place of a bundle is named where it can be told: most such files come
 * of unpacking one.
 * @param beginning what the file begins with
 */
export const fileSentence = (reason: VerdictReason, beginning: Uint8Array): string => {
  if (reason !== 'bad_gzip') return reasonSentence(reason);
  switch (gzipHeaderFault(beginning)) {
    case null:
      return reasonSentence('bad_gzip');
    case 'other_header':
      return (
        'The gzip header is not the one that a bundle has (docs/deed-format.md): it keeps a file name, for example. ' +
        'Was the bundle packed again? Unpacked and packed by gzip -n, it is one again. Or take the file that the export answered.'
      );
    case 'not_gzip':
      return (
        unpackedSentence(beginning) ??
        'The file is not gzip, as a bundle is. Give the file that the export answered, whole and not unpacked.'
      );
  }
};
