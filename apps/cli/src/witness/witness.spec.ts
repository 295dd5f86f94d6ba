import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeCheckpoint,
  encodeHex,
  formatNote,
  judgeNote,
  knownKey,
  parseCosignatures,
  parseSignedNote,
  signNote,
  timestampOf,
} from '#libs/crypto';
import { LatestCheckpoints, originHashOf } from './latest-checkpoints.js';
import { CrashingDisk } from './testing/crashing-disk.js';
import { GivenLog, newLog, ORIGIN, SeenStatements, treeIn } from './testing/given-log.js';
import { TrustedLogs } from './trusted-logs.js';
import { WitnessKey } from './witness-key.js';
import { WitnessLog } from './witness-log.js';
import { Witness } from './witness.js';

const key = WitnessKey.generate('witness.example/w1');
const log = newLog();
const forks = [
  log,
  new GivenLog(log.key, { branch: 'b', forkAt: 3 }),
  new GivenLog(log.key, { branch: 'c', forkAt: 8 }),
];
const NOW_MS = 1_790_000_000_000;

const started = async (disk: CrashingDisk, lines: string[] = [], nowMs = () => NOW_MS): Promise<Witness> => {
  const checkpoints = new LatestCheckpoints(disk, key);
  await checkpoints.open();
  const told = new WitnessLog((line) => lines.push(line), nowMs);
  return new Witness(key, new TrustedLogs([log.signer.vkey], []), checkpoints, { log: told, nowMs });
};

const grown = async (witness: Witness, oldSize: number, size: number): Promise<number> =>
  (await witness.addCheckpoint(await log.asks({ oldSize, size }))).status;

describe('a witness', () => {
  it('answers with a line of each of its keys over the checkpoint that was sent, and keeps them with the line of the log', async () => {
    const witness = await started(new CrashingDisk());
    const answer = await witness.addCheckpoint(await log.asks({ oldSize: 0, size: 5 }));
    const text = encodeCheckpoint({ origin: ORIGIN, size: 5, root: log.root(5) });
    const signatures = parseCosignatures(Buffer.from(answer.body));
    const { verified, failed } = judgeNote({ text, signatures }, key.vkeys.map(knownKey));
    expect([answer.status, verified.length, failed]).toEqual([200, 2, []]);
    expect(signatures.map(({ signature }) => timestampOf(signature))).toEqual([NOW_MS / 1_000, NOW_MS / 1_000]);
    const kept = await witness.checkpoint(originHashOf(ORIGIN));
    const logLine = signNote(text, [log.signer]).signatures;
    expect(Buffer.from(kept.body).toString()).toBe(formatNote({ text, signatures: [...logLine, ...signatures] }));
  });

  it('keeps no line of a key that it does not know', async () => {
    const witness = await started(new CrashingDisk());
    const stranger = newLog().signer;
    await witness.addCheckpoint(await log.asks({ oldSize: 0, size: 5, signers: [stranger, log.signer, log.signer] }));
    const kept = parseSignedNote(Buffer.from((await witness.checkpoint(originHashOf(ORIGIN))).body));
    expect(kept.signatures.map(({ keyId }) => keyId)).toEqual([log.signer, ...key.vkeys].map(({ keyId }) => keyId));
  });

  it('says no earlier time than it said before, when the clock is set back', async () => {
    let now = NOW_MS;
    const witness = await started(new CrashingDisk(), [], () => now);
    await grown(witness, 0, 5);
    now -= 3_600_000;
    const { body } = await witness.addCheckpoint(await log.asks({ oldSize: 5, size: 9 }));
    const [first] = parseCosignatures(Buffer.from(body));
    expect(first && timestampOf(first.signature)).toBe(NOW_MS / 1_000);
  });

  it('lets one of many that ask at once for the same step have it, and tells the others the size', async () => {
    const witness = await started(new CrashingDisk());
    const asked = await Promise.all([1, 2, 3, 4, 5].map((size) => log.asks({ oldSize: 0, size })));
    const answers = await Promise.all(asked.map((body) => witness.addCheckpoint(body)));
    expect(answers.map(({ status, body }) => (status === 200 ? 200 : body))).toEqual([200, '1\n', '1\n', '1\n', '1\n']);
  });

  it('tells its operator both histories of a log that contradicts itself', async () => {
    const lines: string[] = [];
    const witness = await started(new CrashingDisk(), lines);
    await grown(witness, 0, 5);
    const { status } = await witness.addCheckpoint(await (forks[1] as GivenLog).asks({ oldSize: 5, size: 9 }));
    const told = lines.map((line) => JSON.parse(line) as Record<string, string>);
    expect([status, told.at(-1)]).toMatchObject([422, { event: 'refused', why: 'proof', latest: { size: 5 } }]);
    expect(
      judgeNote(parseSignedNote(Buffer.from(told.at(-1)?.['note'] ?? '')), [knownKey(log.signer.vkey)]),
    ).toMatchObject({ verified: [{}], failed: [] });
  });

  it.each([
    ['cut', (bytes: Uint8Array) => bytes.subarray(0, 40)],
    ['empty', () => new Uint8Array()],
    ['another size', (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replace('\n5\n', '\n4\n'))],
  ])('cosigns nothing where the file of the log is not what it wrote: %s', async (_how, damaged) => {
    const disk = new CrashingDisk();
    const witness = await started(disk);
    await grown(witness, 0, 5);
    const file = originHashOf(ORIGIN);
    await disk.write(file, damaged((await disk.read(file)) as Uint8Array));
    await expect(grown(witness, 5, 9)).rejects.toThrow('is not what this witness wrote');
    await expect(grown(witness, 0, 9)).rejects.toThrow('is not what this witness wrote');
  });

  it('takes the file of another log for damaged', async () => {
    const disk = new CrashingDisk();
    const witness = await started(disk);
    const text = encodeCheckpoint({ origin: 'other.example/log', size: 5, root: log.root(5) });
    await disk.write(originHashOf(ORIGIN), Buffer.from(formatNote({ text, signatures: key.cosign(text, 7) })));
    await expect(grown(witness, 5, 9)).rejects.toThrow('is not what this witness wrote');
  });

  it('answers nobody any more once it is not known what is on disk, and goes on where nothing was renamed', async () => {
    const disk = new CrashingDisk();
    const witness = await started(disk);
    disk.crashAt(2, false);
    await expect(grown(witness, 0, 5)).rejects.toThrow();
    disk.mountAgain(false, () => true);
    expect(await grown(witness, 0, 5)).toBe(200);
    disk.crashAt(4, false);
    await expect(grown(witness, 5, 9)).rejects.toThrow('may or may not be on disk');
    disk.mountAgain(false, () => true);
    await expect(grown(witness, 9, 9)).rejects.toThrow('may or may not be on disk');
    await expect(witness.checkpoint(originHashOf(ORIGIN))).rejects.toThrow('may or may not be on disk');
  });
});

interface Sent {
  readonly fork: GivenLog;
  /** Ahead of what the witness told last. */
  readonly ahead: number;
  readonly isMonitor: boolean;
  /** Turns of the event loop to wait for: how far others have come by then. */
  readonly ticks: number;
}

interface Life {
  /** Those in one list are sent at once. */
  readonly requests: readonly (readonly Sent[])[];
  readonly crashAt: number;
  readonly isAfter: boolean;
  readonly isPowerLost: boolean;
  readonly isKept: boolean;
}

/** Logs and monitors around one witness, across its lives: fails where what they saw contradicts itself. */
class Outside {
  readonly #disk = new CrashingDisk();
  readonly #seen = new SeenStatements();
  #size = 0;

  async live({ requests, crashAt, isAfter, isPowerLost, isKept }: Life): Promise<void> {
    this.#disk.crashAt(crashAt, isAfter);
    const living = (async () => {
      const witness = await started(this.#disk);
      for (const together of requests) {
        const ended = await Promise.allSettled(together.map((one) => this.#send(witness, one)));
        // All have ended: nothing of a dead process goes on in the next one.
        for (const one of ended) if (one.status === 'rejected') throw one.reason as Error;
      }
    })();
    await living.catch((error: unknown) => {
      // Nothing ends a life but the disk.
      if (!this.#disk.isDown) throw error;
    });
    this.#disk.mountAgain(isPowerLost, () => isKept);
  }

  async #send(witness: Witness, { fork, ahead, isMonitor, ticks }: Sent): Promise<void> {
    for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    if (isMonitor) {
      const { status, body } = await witness.checkpoint(originHashOf(ORIGIN));
      if (status === 200) this.#look(treeIn(Buffer.from(body)));
      return;
    }
    const [oldSize, size] = [this.#size, Math.min(24, this.#size + ahead)];
    const { status, body } = await witness.addCheckpoint(await fork.asks({ oldSize, size }));
    if (status === 409) this.#size = Number(body);
    if (status === 200) this.#look({ size, root: encodeHex(fork.root(size)) });
  }

  #look(tree: ReturnType<typeof treeIn>): void {
    this.#size = tree.size;
    expect(this.#seen.see(tree)).toBeNull();
  }
}

const sent = fc.record({
  fork: fc.constantFrom(...forks),
  ahead: fc.integer({ min: 0, max: 6 }),
  isMonitor: fc.boolean(),
  ticks: fc.integer({ min: 0, max: 5 }),
});
const life = fc.record({
  requests: fc.array(fc.array(sent, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  crashAt: fc.integer({ min: 1, max: 14 }),
  isAfter: fc.boolean(),
  isPowerLost: fc.boolean(),
  isKept: fc.boolean(),
});

const [honest, other] = forks as [GivenLog, GivenLog];
const asks = (fork: GivenLog, ahead: number): Sent => ({ fork, ahead, isMonitor: false, ticks: 0 });
const looks = (ticks: number): Sent => ({ fork: honest, ahead: 0, isMonitor: true, ticks });
const undisturbed = { crashAt: 1_000, isAfter: false, isPowerLost: false, isKept: false };
/** Of an add-checkpoint, the first step of a start among them. */
const STEPS = [1, 2, 3, 4, 5, 6].flatMap((crashAt) => [
  { crashAt, isAfter: false },
  { crashAt, isAfter: true },
]);

describe('a witness that is ended at any step, of the process or of the power', () => {
  it('never shows two roots of one size, nor a smaller tree after a larger one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 2, maxLength: 5 }), async (lives) => {
        const outside = new Outside();
        for (const one of lives) await outside.live(one);
      }),
      { numRuns: 60 },
    );
  });

  it.each(STEPS)('shows nothing that the power may still take: killed at $crashAt, after it: $isAfter', async (at) => {
    const outside = new Outside();
    await outside.live({ ...undisturbed, ...at, requests: [[asks(honest, 7)]] });
    await outside.live({ ...undisturbed, requests: [[looks(0)]], isPowerLost: true });
    await outside.live({ ...undisturbed, requests: [[asks(other, 7)], [asks(other, 0)]] });
  });

  it.each(STEPS)(
    'shows a monitor nothing that is still being written: power lost at $crashAt, $isAfter',
    async (at) => {
      const outside = new Outside();
      const monitors = Array.from({ length: 12 }, (_, ticks) => looks(ticks));
      await outside.live({ ...undisturbed, ...at, requests: [[asks(honest, 7), ...monitors]], isPowerLost: true });
      await outside.live({ ...undisturbed, requests: [[asks(other, 7)], [asks(other, 0)]] });
    },
  );
});
