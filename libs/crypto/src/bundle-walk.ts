import { type BundleManifest, parseDeedLine } from './bundle-format.js';
import type { LineFault } from './bundle-verdict.js';
import { type ChainHead, ChainWalk } from './chain-walk.js';
import { type ReadDeed, readDeed } from './deed-judgement.js';
import type { Digest } from './digest.js';
import type { Keyring } from './keyring.js';

/** Judges everything of the line that must hold the deed `seq` of this bundle, but its seal, and what needs another deed. */
export const readLine = (
  bytes: Buffer,
  seq: number,
  manifest: BundleManifest,
  keyring: Keyring,
): { readonly fault: LineFault } | ReadDeed => {
  const deed = parseDeedLine(bytes);
  if (deed === null) return { fault: 'bad_line' };
  if (deed.seq !== seq) return { fault: deed.seq > seq ? 'gap' : 'duplicate' };
  if (manifest.last_seq === null || seq > manifest.last_seq) return { fault: 'extra_deed' };
  return readDeed(deed, manifest.org, (kid) => keyring.find(kid));
};

/** The walk over the deeds that a manifest promises, through the heads that it and its reader know. */
export const bundleWalk = (manifest: BundleManifest, readersHeads: readonly ChainHead[]): ChainWalk<LineFault> => {
  const { org, from, to, first_seq: firstSeq, prev_hash: prevHash, head } = manifest;
  const heads = head === null ? readersHeads : [head, ...readersHeads];
  const contradictsHead = (seq: number, bodyHash: Digest | null): boolean =>
    heads.some((known) => known.seq === seq && known.body_hash !== bodyHash);
  const seq = (firstSeq ?? 1) - 1;
  const walk = new ChainWalk<LineFault>({ org, seq, bodyHash: prevHash, issuedAt: null }, (body, bodyHash) => {
    if ((from !== null && body.issued_at < from) || (to !== null && body.issued_at >= to)) return 'outside_range';
    return contradictsHead(body.seq, bodyHash) ? 'head_mismatch' : null;
  });
  if (contradictsHead(seq, prevHash)) walk.break('head_mismatch');
  return walk;
};
