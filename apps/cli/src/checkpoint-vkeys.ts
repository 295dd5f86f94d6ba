import { encodeVkey, parsePublicKeyText, SIGNATURE_TYPE, vkeyOf } from '#libs/crypto';
import type { Timestamp } from '#libs/domain/kernel';
import type { CheckpointKey, CheckpointKeys } from '#libs/domain/ledger';

type CheckpointKeyStatus = 'active' | 'retiring' | 'retired';

/** A checkpoint key as auditors and witnesses are given it: for one organization, under the name of its tree. */
export interface CheckpointVkey {
  readonly vkey: string;
  readonly status: CheckpointKeyStatus;
  readonly activatedAt: Timestamp;
  readonly retiredAt: Timestamp | null;
}

export const checkpointKeyStatus = ({ retiredAt }: CheckpointKey, now: Timestamp): CheckpointKeyStatus => {
  if (retiredAt === null) return 'active';
  return now < retiredAt ? 'retiring' : 'retired';
};

/** The verifier keys of a tree, oldest first: what `--checkpoint-key` takes, and what a witness knows the tree by. */
export const checkpointVkeys = (keys: CheckpointKeys, origin: string, now: Timestamp): readonly CheckpointVkey[] =>
  keys.map((key) => ({
    vkey: checkpointVkeyText(origin, key.publicKey),
    status: checkpointKeyStatus(key, now),
    activatedAt: key.activatedAt,
    retiredAt: key.retiredAt,
  }));

/** @throws {PublicKeyError} @throws {VkeyError} for an origin that is no name of a key */
export const checkpointVkeyText = (origin: string, publicKey: string): string =>
  encodeVkey(vkeyOf(origin, SIGNATURE_TYPE.ed25519, parsePublicKeyText(publicKey).bytes));
