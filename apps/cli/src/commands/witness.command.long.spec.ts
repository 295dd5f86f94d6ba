import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeHex, encodeId, sha256, SigningKey } from '#libs/crypto';
import { environmentWith } from '../../../../test/support/environment.js';
import { runAgs } from '../../../../test/support/run-ags.js';
import { ROOT } from '../../../../test/support/service.js';
import { originHashOf } from '../witness/latest-checkpoints.js';
import { GivenLog, SeenStatements, treeIn } from '../witness/testing/given-log.js';

const KILLED_STEPS = pathToFileURL(join(ROOT, 'test', 'support', 'killed-file-steps.mjs')).href;
/** More than a start and an add-checkpoint take. */
const MAX_STEPS = 24;
const HOST = 'governance.example';
const key = SigningKey.generate();

/** One organization, its history and another one that its holder made, and what everybody saw of it. */
class Ledger {
  readonly origin: string;
  readonly honest: GivenLog;
  readonly other: GivenLog;
  readonly #seen = new SeenStatements();

  constructor(name: string) {
    this.origin = `${HOST}/ledger/${encodeId('org', sha256(name).subarray(0, 16))}`;
    this.honest = new GivenLog(key, { origin: this.origin, length: 200 });
    this.other = new GivenLog(key, { origin: this.origin, branch: 'other', forkAt: 5, length: 200 });
  }

  see(tree: { readonly size: number; readonly root: string }): void {
    expect(this.#seen.see(tree)).toBeNull();
  }
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<unknown[]>;
}

let state: string;
let running: Running | null = null;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'witness-'));
  const { code, stderr } = await runAgs(['witness', 'init', '--state', state, '--name', 'witness.example/w1']);
  expect([code, stderr]).toEqual([0, '']);
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
  running = null;
  await rm(state, { recursive: true });
});

const spawned = (kill?: string): ChildProcess => {
  const args = ['witness', 'serve', '--state', state, '--trust', HOST, key.publicKey.text, '--port', '0', '--json'];
  const killing =
    kill === undefined
      ? {}
      : { NODE_OPTIONS: `--import=${KILLED_STEPS}`, KILLED_STEPS: `${kill}:${join(state, 'logs')}` };
  return spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', ...args], {
    cwd: ROOT,
    env: { ...environmentWith({}), ...killing },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
};

/** @returns null where it was killed before it listened */
const start = async (kill?: string): Promise<Running | null> => {
  const child = spawned(kill);
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (first === null) return null;
  const { url } = JSON.parse(String(first[0])) as { readonly url: string };
  running = { child, url, ended };
  return running;
};

const end = async ({ child, ended }: Running, signal: NodeJS.Signals): Promise<unknown[]> => {
  child.kill(signal);
  running = null;
  return ended;
};

/** Null: it was killed before it answered. */
const answered = async (url: string, init: RequestInit = {}): Promise<{ status: number; body: Buffer } | null> => {
  try {
    const response = await fetch(url, init);
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
};

/** @returns the status, 0 for none. What was signed counts as seen. */
const grow = async (url: string, ledger: Ledger, log: GivenLog, oldSize: number, size: number): Promise<number> => {
  const body = new Uint8Array(await log.asks({ oldSize, size }));
  const answer = await answered(`${url}/add-checkpoint`, { method: 'POST', body });
  if (answer?.status === 200) ledger.see({ size, root: encodeHex(log.root(size)) });
  return answer?.status ?? 0;
};

/** @returns the size that a monitor sees */
const look = async (url: string, ledger: Ledger): Promise<number> => {
  const answer = await answered(`${url}/${originHashOf(ledger.origin)}/checkpoint`);
  if (answer?.status !== 200) return 0;
  const tree = treeIn(answer.body);
  ledger.see(tree);
  return tree.size;
};

describe('ags witness serve', () => {
  it(
    'killed before and after every step on its files, says nothing else afterwards',
    { timeout: 600_000 },
    async () => {
      const moments = Array.from({ length: MAX_STEPS }, (_, at) => [`before:${at + 1}`, `after:${at + 1}`]).flat();
      const ledgers = moments.map((moment) => new Ledger(moment));
      const before = (await start()) as Running;
      for (const one of ledgers) expect(await grow(before.url, one, one.honest, 0, 5)).toBe(200);
      await end(before, 'SIGKILL');
      const answers: number[] = [];
      for (const [at, moment] of moments.entries()) {
        const ledger = ledgers[at] as Ledger;
        const doomed = await start(moment);
        answers.push(doomed === null ? 0 : await grow(doomed.url, ledger, ledger.honest, 5, 9));
        if (doomed !== null) await end(doomed, 'SIGKILL');
        // Two were answered: the steps are through.
        if (answers.slice(-2).join() === '200,200') break;
      }
      const after = (await start()) as Running;
      const outcomes: string[] = [];
      for (const [at, answer] of answers.entries()) {
        const ledger = ledgers[at] as Ledger;
        const kept = await look(after.url, ledger);
        // What was persisted is not signed away, and what was not is free.
        expect(await grow(after.url, ledger, ledger.other, 5, 9)).toBe(kept === 9 ? 409 : 200);
        expect(await grow(after.url, ledger, ledger.other, 9, 9)).toBe(kept === 9 ? 422 : 200);
        outcomes.push(`${moments[at] ?? ''} answered ${answer} kept ${kept}`);
      }
      const count = (ending: string): number => outcomes.filter((one) => one.endsWith(ending)).length;
      // Every kind of moment was met: before the rename, and between it and the answer.
      expect([count('answered 0 kept 5') > 10, count('answered 0 kept 9') > 4]).toEqual([true, true]);
      expect(answers.length).toBeLessThan(moments.length);
    },
  );

  it('killed under load, again and again, says nothing else afterwards', { timeout: 600_000 }, async () => {
    const ledgers = Array.from({ length: 6 }, (_, at) => new Ledger(`loaded ${at}`));
    let answers = 0;
    for (let round = 1; round <= 8; round += 1) {
      const witness = (await start()) as Running;
      const until = answers + 15 + round * 4;
      const asking = ledgers.flatMap((ledger) =>
        [ledger.honest, ledger.other].map(async (log) => {
          for (;;) {
            const size = await look(witness.url, ledger);
            const status = await grow(witness.url, ledger, log, size, Math.min(200, size + 1));
            if (status === 0) return;
            answers += 1;
            if (answers === until) witness.child.kill('SIGKILL');
          }
        }),
      );
      await Promise.all(asking);
      await witness.ended;
    }
    expect(answers).toBeGreaterThan(200);
  });

  it('refuses a directory that another one has, and takes it once that was killed', async () => {
    const witness = (await start()) as Running;
    const args = ['--state', state, '--trust', HOST, key.publicKey.text, '--port', '0', '--json'];
    const { code, error } = await runAgs(['witness', 'serve', ...args]);
    expect([code, error]).toMatchObject([1, { code: 'conflict', message: expect.stringContaining('Another witness') }]);
    await end(witness, 'SIGKILL');
    expect(await start()).not.toBeNull();
  });

  it('answers what is under way when it is asked to end, and ends with 0', async () => {
    const witness = (await start()) as Running;
    const ledger = new Ledger('ended');
    const sizes = [1, 2, 3, 4, 5, 6];
    const asked = sizes.map(() => grow(witness.url, ledger, ledger.honest, 0, 5));
    await Promise.race(asked);
    const ended = end(witness, 'SIGTERM');
    const statuses = await Promise.all(asked);
    expect([statuses.filter((status) => status === 200).length, await ended]).toEqual([1, [0, null]]);
  });

  it('says on one line where it listens and its verifier keys, and what happens on others', async () => {
    const args = ['witness', 'serve', '--state', state, '--trust', HOST, key.publicKey.text, '--port', '0'];
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', ...args], {
      cwd: ROOT,
      env: environmentWith({}),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const [head] = (await once(child.stdout, 'data')) as [Buffer];
    const [url = ''] = /http:\/\/[^ ]+(?=\. )/.exec(head.toString()) ?? [];
    const ledger = new Ledger('told');
    expect(await grow(url, ledger, ledger.honest, 0, 5)).toBe(200);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    const keys = await runAgs(['witness', 'key', '--state', state]);
    expect(await stdout).toBe(`The witness witness.example/w1 listens on ${url}. Its verifier keys:\n${keys.stdout}`);
    const events = (await stderr)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events).toMatchObject([
      { event: 'cosigned', origin: ledger.origin, size: 5 },
      { event: 'ended', state: 'kept' },
    ]);
  });
});
