import { InvalidArgumentError } from 'commander';
import { type Digest, isDigest } from '#libs/crypto';

/** The fingerprint of a seal key. */
export const pinArgument = (text: string): Digest => {
  if (isDigest(text)) return text;
  throw new InvalidArgumentError('A fingerprint is sha256: and 64 lowercase hex characters.');
};
