/** The honest bundle that the attacks start from, and the form of an attack. */
import type { SealedDeed } from '../bundle-format.js';
import type { VerdictReason } from '../bundle-verdict.js';
import type { VerifyOptions } from '../verify-bundle.js';
import { givenChain, KEY, keyFrom, ORG, packed, rawOf } from './given-chain.js';

/** A bundle that somebody changed, with the verdict that every verifier in every language must give. */
export interface BundleAttack {
  readonly name: string;
  readonly bytes: () => Promise<Buffer>;
  readonly options?: Partial<VerifyOptions>;
  readonly result: 'broken' | 'incomplete';
  readonly reason: VerdictReason;
  readonly seq: number | null;
  readonly linksIntact?: boolean;
}

const attack =
  (result: BundleAttack['result']) =>
  (
    reason: VerdictReason,
    seq: number | null,
    name: string,
    bytes: () => Promise<Buffer>,
    more: Pick<BundleAttack, 'options' | 'linksIntact'> = {},
  ): BundleAttack => ({ name, bytes, result, reason, seq, ...more });

/** Something is wrong at this deed, or with the whole bundle when seq is null. */
export const broken = attack('broken');

/** Nothing is wrong in what is there, and something is missing from this deed on. */
export const incomplete = attack('incomplete');

/** Deeds in the bundle that is attacked. */
export const DEEDS = 8;
/** The deed that most attacks change. */
export const AT = 4;

export const deeds = givenChain(DEEDS);
export const raw = rawOf(deeds);
export const stranger = keyFrom('a key that nobody pinned');
export const next = keyFrom('the seal key after a rotation');

/** What a user of the verifier knows about the honest bundle. */
export const HONEST_OPTIONS: VerifyOptions = {
  org: ORG,
  pins: [KEY.publicKey.fingerprint, next.publicKey.fingerprint],
};

export const honestBundle = (): Promise<Buffer> => packed(raw);

export const deedAt = (seq: number): SealedDeed => {
  const deed = deeds[seq - 1];
  if (deed === undefined) throw new RangeError(`there is no deed ${seq}`);
  return deed;
};

export const flipped = (bytes: Uint8Array, bit: number): Buffer =>
  Buffer.from(bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)));
