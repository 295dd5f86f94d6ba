/** Attacks on what a bundle says of itself and on the file around it. */
import { constants, deflateRawSync } from 'node:zlib';

import { digestOf } from '../digest.js';
import {
  AT,
  broken,
  type BundleAttack,
  deedAt,
  DEEDS,
  deeds,
  flipped,
  honestBundle,
  incomplete,
  raw,
  stranger,
} from './attacked-bundle.js';
import { at, entriesOf, entryOf, gzipOf, KEY, OTHER_ORG, packed, type RawBundle, rawOf, tarOf } from './given-chain.js';

const inRange = (change: Partial<RawBundle['manifest']>) => (): Promise<Buffer> =>
  packed({ ...raw, manifest: { ...raw.manifest, ...change } });

export const promiseAttacks: BundleAttack[] = [
  broken('wrong_org', null, 'checked for another organization', honestBundle, { options: { org: OTHER_ORG } }),
  broken('key_not_pinned', 1, 'no pin at all', honestBundle, { options: { pins: [] }, linksIntact: true }),
  incomplete('no_deeds', null, 'no deeds', () => packed(rawOf([]))),
  incomplete('front_missing', 1, 'cut at the front, an open range', () =>
    packed(rawOf(deeds.slice(2), [entryOf(KEY)], { prev_hash: deedAt(2).seal.bodyHash })),
  ),
  incomplete('tail_missing', 7, 'cut at the end, an open range', () =>
    packed(rawOf(deeds.slice(0, 6), [entryOf(KEY)], { head: raw.manifest.head })),
  ),
  incomplete(
    'tail_missing',
    7,
    'cut at the end, the manifest too, against a published head',
    () => packed(rawOf(deeds.slice(0, 6))),
    { options: { heads: [{ seq: 8, body_hash: deedAt(8).seal.bodyHash }] } },
  ),
  broken('head_mismatch', 6, 'another chain than the one whose head was published', honestBundle, {
    options: { heads: [{ seq: 6, body_hash: digestOf('other') }] },
  }),
  broken(
    'head_mismatch',
    3,
    'does not continue the chain of an earlier check',
    () => packed(rawOf(deeds.slice(2), [entryOf(KEY)], { from: at(3), prev_hash: deedAt(2).seal.bodyHash })),
    { options: { heads: [{ seq: 2, body_hash: digestOf('other') }] } },
  ),
  incomplete(
    'front_missing',
    1,
    'begins after a head that the user knows',
    () => packed(rawOf(deeds.slice(2), [entryOf(KEY)], { from: at(3), prev_hash: deedAt(2).seal.bodyHash })),
    { options: { heads: [{ seq: 1, body_hash: deedAt(1).seal.bodyHash }] } },
  ),
  incomplete(
    'front_missing',
    1,
    'begins after several heads that the user knows, the first of them not given first',
    () => packed(rawOf(deeds.slice(3), [entryOf(KEY)], { from: at(4), prev_hash: deedAt(3).seal.bodyHash })),
    { options: { heads: [2, 1].map((seq) => ({ seq, body_hash: deedAt(seq).seal.bodyHash })) } },
  ),
  broken(
    'head_mismatch',
    8,
    'another head in the manifest',
    inRange({ head: { seq: 8, body_hash: digestOf('other') } }),
  ),
  broken('broken_link', 3, 'a link in the manifest that the first deed does not have', () =>
    packed(rawOf(deeds.slice(2), [entryOf(KEY)], { from: at(3), prev_hash: digestOf('other') })),
  ),
  broken('outside_range', 1, 'a deed before the range', inRange({ from: at(2) })),
  broken('outside_range', 8, 'a deed at the end of the range, which is exclusive', inRange({ to: at(8) })),
  broken('bad_manifest', null, 'a count that is not that of the range', inRange({ count: 7 })),
  broken('bad_manifest', null, 'a range that ends before it begins, and holds nothing', () =>
    packed({
      ...rawOf([]),
      manifest: { ...raw.manifest, first_seq: 5, last_seq: 4, count: 0, prev_hash: deedAt(4).seal.bodyHash },
    }),
  ),
  broken(
    'bad_keys',
    null,
    'a fingerprint that keys.json does not have',
    inRange({ keys: [stranger.publicKey.fingerprint] }),
  ),
  broken('bad_keys', null, 'a kid that is not that of its key', () =>
    packed({ ...raw, keys: [{ ...entryOf(KEY), public_key: stranger.publicKey.text }] }),
  ),
  broken('bad_keys', null, 'a key twice', () =>
    packed(rawOf(deeds, [entryOf(KEY), entryOf(KEY, { activated_at: at(1) })])),
  ),
];

const named =
  (index: number, name: string): (() => Promise<Buffer>) =>
  () =>
    gzipOf(tarOf(entriesOf(raw).map((entry, place) => (place === index ? [name, entry[1]] : entry))));

const patched =
  (offset: number, patch: string, hasChecksum = true) =>
  async (): Promise<Buffer> => {
    const tar = tarOf(entriesOf(raw));
    tar.write(patch, offset, 'latin1');
    if (hasChecksum) {
      tar.write('        ', 148, 'latin1');
      const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    }
    return gzipOf(tar);
  };

const archive =
  (change: (entries: (readonly [string, Uint8Array])[]) => (readonly [string, Uint8Array])[]) => (): Promise<Buffer> =>
    gzipOf(tarOf(change(entriesOf(raw))));

const badTar = (name: string, bytes: () => Promise<Buffer>): BundleAttack => broken('bad_tar', null, name, bytes);

const badGzip = (name: string, change: (bundle: Buffer) => Buffer): BundleAttack =>
  broken('bad_gzip', null, name, async () => change(await honestBundle()));

/** Deflate blocks that hold this and do not end, with a trailer behind them. */
const openDeflate = (content: Buffer): Buffer => deflateRawSync(content, { finishFlush: constants.Z_SYNC_FLUSH });

/** A bundle whose deflate stream goes wrong behind the end of its tar, or before. */
const wrongAfter = (bytes: number): Buffer =>
  Buffer.concat([GZIP_HEADER, openDeflate(tarOf(entriesOf(raw)).subarray(0, bytes)), NO_BLOCK, Buffer.alloc(8)]);

const GZIP_HEADER = Buffer.from('1f8b08000000000000ff', 'hex');
/** A block of the type that deflate does not have. */
const NO_BLOCK = Buffer.of(0b111);

/** The bundle with a line in the middle that is none, and its deflate stream wrong behind the deed after it. */
const wrongAfterBadLine = (): Buffer => {
  const lines = raw.lines.with(AT - 1, Buffer.from('no line\n'));
  const tar = tarOf(entriesOf({ ...raw, lines }));
  const end = tar.indexOf('no line\n') + 10;
  return Buffer.concat([GZIP_HEADER, openDeflate(tar.subarray(0, end)), NO_BLOCK, Buffer.alloc(8)]);
};

const withDirtyEnd = (tar: Buffer): Buffer => Buffer.concat([tar.subarray(0, -1), Buffer.of(1)]);

export const fileAttacks: BundleAttack[] = [
  badTar('an entry that climbs out', named(1, '../keys.json')),
  badTar('an absolute entry', named(0, '/manifest.json')),
  badTar('an entry by another name', named(2, 'deeds.json')),
  badTar(
    'entries in another order',
    archive(([manifest, keys, ...rest]) => [keys, manifest, ...rest].filter((entry) => entry !== undefined)),
  ),
  badTar(
    'an entry twice',
    archive(([manifest, ...rest]) => [manifest, manifest, ...rest].filter((entry) => entry !== undefined)),
  ),
  badTar(
    'an entry more',
    archive((entries) => [...entries, ['extra', Buffer.from('x')]]),
  ),
  badTar('a symbolic link', patched(156, '2')),
  badTar('a hard link', patched(156, '1')),
  badTar('a directory', patched(156, '5')),
  badTar('a PAX header', patched(156, 'x')),
  badTar('a global PAX header', patched(156, 'g')),
  badTar('a GNU long name', patched(156, 'L')),
  badTar('a sparse file', patched(156, 'S')),
  badTar('a link name', patched(157, '/etc/passwd')),
  badTar('an owner', patched(108, '0001750')),
  badTar('a time', patched(136, '00000000001')),
  badTar('another mode', patched(100, '0104755')),
  badTar('a prefix', patched(345, '..')),
  badTar('a GNU magic', patched(257, 'ustar  ')),
  badTar('a size in base 256', patched(124, '\x80')),
  badTar('a size with a space', patched(124, ' ')),
  badTar('a manifest of a gigabyte', patched(124, '07777777777')),
  badTar('a wrong checksum', patched(148, '777777', false)),
  badTar('padding that is not zero', patched(1_023, 'x', false)),
  badTar('bytes after the end', async () => gzipOf(Buffer.concat([tarOf(entriesOf(raw)), Buffer.alloc(512)]))),
  badTar('an end that is not zero', async () => gzipOf(withDirtyEnd(tarOf(entriesOf(raw))))),
  badGzip('no gzip', () => Buffer.from('PK\x03\x04 is another archive')),
  badGzip('a file name in the gzip header', (bundle) =>
    Buffer.concat([
      Buffer.from('1f8b0808', 'hex'),
      bundle.subarray(4, 10),
      Buffer.from('b.tar\0'),
      bundle.subarray(10),
    ]),
  ),
  badGzip('a byte after the gzip member', (bundle) => Buffer.concat([bundle, Buffer.from([0])])),
  badGzip('a second gzip member', (bundle) => Buffer.concat([bundle, bundle])),
  badGzip('an empty second gzip member', (bundle) =>
    Buffer.concat([bundle, Buffer.from('1f8b08000000000000ff03000000000000000000', 'hex')]),
  ),
  badGzip('a wrong checksum of the content', (bundle) => flipped(bundle, (bundle.length - 8) * 8)),
  badGzip('a wrong length of the content', (bundle) => flipped(bundle, (bundle.length - 4) * 8)),
  badGzip('a wrong checksum of an archive that ends early', () =>
    Buffer.concat([GZIP_HEADER, deflateRawSync(tarOf(entriesOf(raw)).subarray(0, -512)), Buffer.alloc(8)]),
  ),
  badGzip('a deflate stream that is wrong in its first byte', () => wrongAfter(0)),
  badGzip('a deflate stream that is wrong behind the first deeds', () => wrongAfter(6_000)),
  badGzip('a deflate stream that is wrong behind the whole archive', () => wrongAfter(Infinity)),
  broken('bad_line', AT, 'a deflate stream that is wrong behind a line that is none', () =>
    Promise.resolve(wrongAfterBadLine()),
  ),
  broken('bad_line', AT, 'a file that ends early behind a line that is none', () =>
    Promise.resolve(wrongAfterBadLine().subarray(0, -9)),
  ),
  incomplete('truncated', null, 'an empty file', () => Promise.resolve(Buffer.alloc(0))),
  incomplete('truncated', null, 'a file cut in its header', async () => (await honestBundle()).subarray(0, 5)),
  incomplete('truncated', DEEDS + 1, 'a file cut in its last byte', async () => (await honestBundle()).subarray(0, -1)),
  incomplete('truncated', DEEDS + 1, 'a file cut in its trailer, which is wrong', async () =>
    flipped(await honestBundle(), ((await honestBundle()).length - 8) * 8).subarray(0, -1),
  ),
  incomplete('truncated', DEEDS + 1, 'an archive cut in its end, well compressed', async () =>
    gzipOf(tarOf(entriesOf(raw)).subarray(0, -512)),
  ),
];
