import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { against, print, say } from './figure.js';

const DEEDS = 100_000;
const FEW_DEEDS = 10_000;
const ROUNDS = 3;

/** What one program that verified a bundle says of it. */
interface Verification {
  readonly deedsPerSecond: number;
  /** OpenSSL's verifications of the bundle's own signatures, on one thread and with nothing between them. */
  readonly opensslPerSecond: number;
  readonly peakMiB: number;
}

/** The same bundle on one thread and then on two, and its deeds with the checkpoint that covers them, on one. */
interface Round {
  readonly one: Verification;
  readonly two: Verification;
  readonly checked: Verification;
}

/**
 * How many deeds of an export bundle are verified a second: on one thread in units of OpenSSL's bare verifications before and
 * after in the same program, on two threads in units of one; with a checkpoint, the time in units of that without; and how
 * much memory more deeds take. Each verification is a
 * program of its own, so none finds a warm heap.
 */
export const offlineVerify = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-bench-'));
  try {
    say(`making bundles of ${FEW_DEEDS} and ${DEEDS} deeds ...`);
    const [few, many, second] = ['few', 'many', 'second'].map((name) => join(folder, `${name}.tar.gz`)) as Three;
    await run('make', few, String(FEW_DEEDS));
    await run('make', many, String(DEEDS));
    await run('make', second, String(DEEDS), '2');
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      say(`verifying, round ${round} of ${ROUNDS} ...`);
      const checked = await verify(second, 1, '2');
      rounds.push({ one: await verify(many, 1), two: await verify(many, 2), checked });
    }
    const memoryOfFew = (await verify(few, 2)).peakMiB;
    const toOpenssl = ({ deedsPerSecond, opensslPerSecond }: Verification): Ratio => [deedsPerSecond, opensslPerSecond];
    const oneToOpenssl = middle(rounds.map(({ one }) => toOpenssl(one)));
    const twoToOne = middle(rounds.map(({ one, two }) => [two.deedsPerSecond, one.deedsPerSecond]));
    const ofCheckpoint = middle(rounds.map(({ one, checked }) => [one.deedsPerSecond, checked.deedsPerSecond]));
    const [deeds, openssl] = middle(rounds.map(({ two }) => toOpenssl(two)));
    say(`two threads in units of one OpenSSL: ${(deeds / openssl).toFixed(2)}`);
    print(against('verify_one_thread', oneToOpenssl, 'deeds/s'));
    print(against('verify_two_threads', twoToOne, 'deeds/s'));
    print(against('verify_checkpoint', ofCheckpoint, 'deeds/s'));
    print(against('verify_memory', [rounds[0]?.two.peakMiB ?? 0, memoryOfFew], 'MiB'));
  } finally {
    await rm(folder, { recursive: true });
  }
};

const verify = async (path: string, threads: number, format = '1'): Promise<Verification> =>
  JSON.parse(await run('verify', path, String(threads), format)) as Verification;

type Three = [string, string, string];
type Ratio = readonly [value: number, unit: number];

/** The ratio in the middle, which one slow moment of the machine does not move. */
const middle = (ratios: readonly Ratio[]): Ratio =>
  [...ratios].sort(([a, b], [c, d]) => a / b - c / d)[ratios.length >> 1] ?? [0, 0];

const PROGRAM = fileURLToPath(new URL('offline-verify.child.js', import.meta.url));

const run = async (...args: readonly string[]): Promise<string> => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? 'a signal'}`);
  return output;
};
