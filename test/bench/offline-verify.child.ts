/**
 * `make PATH DEEDS FORMAT` writes a bundle, of format 2 with the checkpoint that covers it; `verify PATH THREADS FORMAT`
 * verifies it and prints how fast that was and what it took.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  canonicalBytes,
  type CoveringCheckpoint,
  deedLineBytes,
  digestOf,
  ed25519NoteSigner,
  encodeBase64url,
  encodeCheckpoint,
  formatNote,
  hashesInMemory,
  leafHash,
  ledgerRange,
  rootOf,
  sealInput,
  type SealedDeed,
  signNote,
  startOfChain,
  verifyBundle,
  writeBundle,
} from '#libs/crypto';
import { parseDeedLine } from '../../libs/crypto/src/bundle-format.js';
import { BundleReader, linesOf } from '../../libs/crypto/src/bundle-reader.js';
import { bodyAfter, contentOf, KEY, ORG } from '../../libs/crypto/src/testing/given-chain.js';
import { peakMemoryKiB } from '../support/peak-memory.js';
import { opensslPerSecond, type Signed } from './openssl.js';

const SIGNATURES = 1_000;

/** The same deeds at every run: executed, denied and administrative ones in turn, 1.5 KB each. */
const chainOf = (count: number): SealedDeed[] => {
  const deeds: SealedDeed[] = [];
  let position = startOfChain(ORG);
  const { kid } = KEY.publicKey;
  for (let seq = 1; seq <= count; seq += 1) {
    const body = canonicalBytes(bodyAfter(position, kid));
    const bodyHash = digestOf(body);
    const signature = encodeBase64url(KEY.sign(sealInput(bodyHash)));
    deeds.push({ seq, body, seal: { bodyHash, kid, signature } });
    position = { ...position, seq, bodyHash };
  }
  return deeds;
};

const WITH_CHECKPOINT = '2';
/** Its own key would be another one; here one is as good. */
const LOG = ed25519NoteSigner(`governance.example/ledger/${ORG}`, KEY);

const checkpointOver = async (deeds: readonly SealedDeed[]): Promise<CoveringCheckpoint> => {
  const size = deeds.length;
  const leaves = deeds.map(({ seal: { bodyHash } }) => leafHash(Buffer.from(bodyHash.slice('sha256:'.length), 'hex')));
  const text = encodeCheckpoint({ origin: LOG.vkey.keyName, size, root: rootOf(leaves) });
  const range = await ledgerRange(hashesInMemory(leaves), { first: 1, last: size, size });
  return { note: formatNote(signNote(text, [LOG])), range };
};

const make = async (path: string, count: number, format: string): Promise<void> => {
  const deeds = chainOf(count);
  const deedsBytes = deeds.reduce((sum, { seq, body }) => sum + deedLineBytes(seq, body.length), 0);
  const additions =
    format === WITH_CHECKPOINT ? { additions: { checkpoint: await checkpointOver(deeds), evidence: null } } : {};
  const content = { ...contentOf(deeds), deedsBytes, ...additions };
  await pipeline(Readable.from(writeBundle(content)), createWriteStream(path));
};

/** The first signatures of a bundle. */
const signaturesOf = async (path: string): Promise<Signed[]> => {
  const reader = new BundleReader(createReadStream(path));
  await reader.keys(await reader.manifest());
  const signed: Signed[] = [];
  for await (const { bytes } of reader.deeds()) {
    for (const line of linesOf(bytes)) {
      const seal = parseDeedLine(line)?.seal;
      if (seal === undefined) throw new Error('the bundle holds a line that is none');
      signed.push({ message: sealInput(seal.bodyHash), signature: Buffer.from(seal.signature, 'base64url') });
    }
    if (signed.length >= SIGNATURES) break;
  }
  await reader.close();
  return signed;
};

const measure = async (path: string, threads: number, format: string): Promise<void> => {
  const signed = await signaturesOf(path);
  const before = opensslPerSecond(signed);
  const begun = performance.now();
  const checkpointKeys = format === WITH_CHECKPOINT ? { checkpointKeys: [LOG.vkey] } : {};
  const known = { org: ORG, pins: [KEY.publicKey.fingerprint], threads, ...checkpointKeys };
  const { result, deeds, checkpoint } = await verifyBundle(path, known);
  const seconds = (performance.now() - begun) / 1_000;
  if (result !== 'intact') throw new Error(`the bundle is ${result}`);
  if (format === WITH_CHECKPOINT && checkpoint === null) throw new Error('the checkpoint was not judged');
  const peakMiB = peakMemoryKiB() / 1_024;
  const openssl = (before + opensslPerSecond(signed)) / 2;
  process.stdout.write(JSON.stringify({ deedsPerSecond: deeds / seconds, opensslPerSecond: openssl, peakMiB }));
};

const [, , task, path = '', number = '', format = ''] = process.argv;
await (task === 'make' ? make(path, Number(number), format) : measure(path, Number(number), format));
