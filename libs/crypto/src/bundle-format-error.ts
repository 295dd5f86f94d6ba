/** Why a file is no bundle, or not a whole one. Closed. `truncated` says that it ends early; the others that it is wrong. */
export type BundleFormatFault =
  'truncated' | 'bad_gzip' | 'bad_tar' | 'bad_manifest' | 'bad_keys' | 'bad_line' | 'bad_evidence';

/** A file that does not have the form of docs/deed-format.md. */
export class BundleFormatError extends Error {
  override readonly name = 'BundleFormatError';

  constructor(
    readonly reason: BundleFormatFault,
    options?: ErrorOptions,
  ) {
    super(`bundle refused: ${reason}`, options);
  }
}
