/**
 * Two verifiers in two languages, the second written from docs/deed-format.md alone, give one verdict (rule DEED-18).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodePolicy, encodeVkey, type SealKeyEntry, verifyBundle, type VerifyOptions } from '#libs/crypto';

import {
  approvalAt,
  at,
  entryOf,
  givenChain,
  KEY,
  keyFrom,
  packed,
  rawOf,
  streamOf,
} from '../../libs/crypto/src/testing/given-chain.js';
import { INTENTS_LEFT_OPEN } from '../../libs/crypto/src/testing/intent-attacks.js';
import { intentBundle } from '../../libs/crypto/src/testing/intent-bundle.js';
import { LEFT_OPEN } from '../../libs/crypto/src/testing/signed-attacks.js';
import { signedBundle } from '../../libs/crypto/src/testing/signed-bundle.js';
import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import { ATTACKS, honestBundle, HONEST_OPTIONS } from '../../libs/crypto/src/testing/bundle-attacks.js';
import { UNUSUAL_EVIDENCE, WITNESSED_ATTACKS } from '../../libs/crypto/src/testing/witnessed-attacks.js';
import { BOTH, BOTH_TEXT, witnessed, witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';

const SCRIPT = fileURLToPath(new URL('verify_bundle.py', import.meta.url));
const PYTHON = 'python3';

/** One process for all bundles: a case a line in, a verdict a line out. */
const MANY = `
import json, sys
sys.path.insert(0, sys.argv[1])
from verify_bundle import verify
for line in sys.stdin:
    case = json.loads(line)
    with open(case["path"], "rb") as file:
        policy = None if case["policy"] is None else case["policy"].encode()
        print(json.dumps(verify(file.read(), case["org"], case["pins"], case["heads"], case["keys"], case["logs"], policy)))
`;

/** A bundle, and what its reader knows beside what the reader of an honest one does. */
interface GivenBundle {
  readonly bytes: () => Promise<Buffer>;
  readonly options?: Partial<VerifyOptions>;
}

const hasPython = spawnSync(PYTHON, ['-c', 'import cryptography']).status === 0;

describe.skipIf(!hasPython)('the Python verifier (needs python3 with cryptography)', () => {
  const attacks = [...Object.values(ATTACKS), ...Object.values(WITNESSED_ATTACKS)].flat();
  const verdicts = new Map<string, unknown>();
  let folder = '';
  let honestPath = '';

  /** What Python says of each of these bundles, all in one process. */
  const verdictsOf = async (bundles: readonly GivenBundle[]): Promise<unknown[]> => {
    const cases = [];
    for (const [index, { bytes, options }] of bundles.entries()) {
      const { org, pins, heads = [], keySet, ...asked }: VerifyOptions = { ...HONEST_OPTIONS, ...options };
      const path = join(folder, `${index}.tar.gz`);
      writeFileSync(path, await bytes());
      const logs = (asked.checkpointKeys ?? []).map(encodeVkey);
      const policy = asked.witnesses === undefined ? null : Buffer.from(encodePolicy(asked.witnesses)).toString();
      cases.push(JSON.stringify({ path, org, pins, heads, keys: keySet ?? null, logs, policy }));
    }
    const { stdout, stderr } = spawnSync(PYTHON, ['-B', '-c', MANY, dirname(SCRIPT)], {
      input: `${cases.join('\n')}\n`,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bundles-'));
    honestPath = join(folder, 'honest.tar.gz');
    writeFileSync(honestPath, await honestBundle());
    for (const [index, verdict] of (await verdictsOf(attacks)).entries()) {
      verdicts.set(attacks[index]?.name ?? '', verdict);
    }
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  const run = (...options: string[]) => spawnSync(PYTHON, ['-B', SCRIPT, ...options], { encoding: 'utf8' });
  const { org, pins } = HONEST_OPTIONS;
  const pinning = pins.flatMap((pin) => ['--pin', pin]);

  it('agrees on an honest bundle, member by member, and exits with 0', async () => {
    const { status, stdout } = run(honestPath, '--org', org, ...pinning);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual(await verifyBundle(honestPath, HONEST_OPTIONS));
  });

  it('agrees on decisions that devices signed, and on what leaves them open', async () => {
    const held = await Promise.all(LEFT_OPEN.map(({ choices }) => signedBundle(choices)));
    await agreeOn(held, LEFT_OPEN);
  });

  it('agrees on calls that agents signed, and on what leaves them open', async () => {
    const held = await Promise.all(INTENTS_LEFT_OPEN.map(({ choices }) => intentBundle(choices)));
    await agreeOn(held, INTENTS_LEFT_OPEN);
  });

  const agreeOn = async (held: readonly Buffer[], cases: readonly { readonly name: string }[]): Promise<void> => {
    const said = await verdictsOf(held.map((bytes) => ({ bytes: () => Promise.resolve(bytes) })));
    for (const [index, bytes] of held.entries()) {
      const verdict = await verifyBundle(streamOf([bytes]), HONEST_OPTIONS);
      expect([verdict.approvals, verdict.intents]).not.toContain(null);
      expect(said[index], cases[index]?.name).toEqual(verdict);
    }
  };

  it('agrees on deeds of what people were asked: approved, denied, expired and cancelled', async () => {
    const ends = ['approved', 'denied', 'expired', 'cancelled'] as const;
    const chain = givenChain(11, {
      changeAt: (seq) => (seq % 3 === 2 ? approvalAt(seq, ends[(seq - 2) / 3] ?? 'denied') : {}),
    });
    const path = join(folder, 'approvals.tar.gz');
    writeFileSync(path, await packed(rawOf(chain)));
    const verdict = await verifyBundle(path, HONEST_OPTIONS);
    expect(verdict).toMatchObject({ result: 'intact', deeds: 11 });
    const { status, stdout } = run(path, '--org', org, ...pinning);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual(verdict);
  });

  it('agrees on a bundle with any bit turned, and on one that ends anywhere', async () => {
    const chain = rawOf(givenChain(4));
    const bundles = await Promise.all([
      packed(chain),
      packed({ ...chain, lines: chain.lines.with(2, Buffer.from('no line\n')) }),
    ]);
    const damaged = bundles.flatMap((bundle) =>
      [...bundle.keys()]
        .filter((place) => place % 41 === 0 || place < 8 || place > bundle.length - 10)
        .flatMap((place) => [flipped(bundle, place * 8 + (place % 8)), bundle.subarray(0, place)]),
    );
    const said = await verdictsOf(damaged.map((bytes) => ({ bytes: () => Promise.resolve(bytes) })));
    for (const [index, bytes] of damaged.entries()) {
      expect(said[index]).toEqual(await verifyBundle(streamOf([bytes]), HONEST_OPTIONS));
    }
  });

  it('exits with 1 when a bundle is not intact', () => {
    const head = `9:sha256:${'0'.repeat(64)}`;
    const { status, stdout } = run(honestPath, '--org', org, ...pinning, '--head', head);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ result: 'incomplete', reason: 'tail_missing', first_bad_seq: 9 });
  });

  const published = (key: SealKeyEntry): string => {
    const path = join(folder, 'published.json');
    writeFileSync(path, JSON.stringify({ object: 'seal_key_set', keys: [key] }, null, 2));
    return path;
  };

  it('takes the key set that the service publishes', async () => {
    const keySet = [entryOf(KEY, { revoked_at: at(9_000) })];
    const { status, stdout } = run(honestPath, '--org', org, ...pinning, '--keys', published(keySet[0]!));
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual(await verifyBundle(honestPath, { ...HONEST_OPTIONS, keySet }));
  });

  it('exits with 2 when it is used wrongly', () => {
    expect(run(join(folder, 'absent'), '--org', org).status).toBe(2);
    expect(run(honestPath, '--org', 'acme').status).toBe(2);
    const forged = { ...entryOf(KEY), public_key: keyFrom('another').publicKey.text };
    expect(run(honestPath, '--org', org, ...pinning, '--keys', published(forged)).status).toBe(2);
    expect(run(honestPath, '--org', org, ...pinning, '--keys', SCRIPT).status).toBe(2);
  });

  it('agrees on a bundle with its checkpoint and its evidence, member by member', async () => {
    const path = join(folder, 'witnessed.tar.gz');
    const policy = join(folder, 'policy.txt');
    writeFileSync(path, await packed(await witnessedBundle()));
    writeFileSync(policy, BOTH_TEXT);
    const { status, stdout } = run(path, '--org', org, ...pinning, '--witnesses', policy);
    expect(status).toBe(0);
    const verdict = await verifyBundle(path, { ...HONEST_OPTIONS, witnesses: BOTH });
    expect(verdict).toMatchObject({ result: 'intact', quorum: 'met' });
    expect(JSON.parse(stdout)).toEqual(verdict);
  });

  it('agrees on evidence that is unusual, and right', async () => {
    const said = await verdictsOf(UNUSUAL_EVIDENCE.map((bytes) => ({ bytes })));
    for (const [index, bytes] of UNUSUAL_EVIDENCE.entries()) {
      expect(said[index]).toEqual(await verifyBundle(streamOf([await bytes()]), HONEST_OPTIONS));
    }
  });

  it('agrees on every range of a tree', async () => {
    const ranges = witnessed.flatMap((_, first) =>
      witnessed.slice(first).map((_deed, more) => witnessed.slice(first, first + more + 1)),
    );
    const options = { witnesses: BOTH };
    const manifest = { from: at(0) };
    const given = ranges.map((deeds) => ({
      bytes: async () => packed(await witnessedBundle({ deeds, manifest })),
      options,
    }));
    const said = await verdictsOf(given);
    for (const [index, { bytes }] of given.entries()) {
      const verdict = await verifyBundle(streamOf([await bytes()]), { ...HONEST_OPTIONS, ...options });
      expect(said[index]).toEqual(verdict);
      expect(verdict.result).toBe('intact');
    }
  });

  it('agrees on a witnessed bundle with any bit turned, and on one that ends anywhere', async () => {
    const bundle = await packed(await witnessedBundle({ deeds: witnessed.slice(0, 3) }));
    const damaged = [...bundle.keys()]
      .filter((place) => place % 29 === 0 || place > bundle.length - 10)
      .flatMap((place) => [flipped(bundle, place * 8 + (place % 8)), bundle.subarray(0, place)]);
    const options = { witnesses: BOTH };
    const said = await verdictsOf(damaged.map((bytes) => ({ bytes: () => Promise.resolve(bytes), options })));
    for (const [index, bytes] of damaged.entries()) {
      expect(said[index]).toEqual(await verifyBundle(streamOf([bytes]), { ...HONEST_OPTIONS, ...options }));
    }
  });

  describe.each(Object.entries(WITNESSED_ATTACKS))('agrees on attacks on %s', (_group, group) => {
    it.each(group)('$name: $reason', async ({ name, bytes, options }) => {
      const path = join(folder, 'ours.tar.gz');
      writeFileSync(path, await bytes());
      expect(verdicts.get(name)).toEqual(await verifyBundle(path, { ...HONEST_OPTIONS, ...options }));
    });
  });

  describe.each(Object.entries(ATTACKS))('agrees on attacks on %s', (_group, group) => {
    it.each(group)('$name: $reason', async ({ name, bytes, options }) => {
      const path = join(folder, 'ours.tar.gz');
      writeFileSync(path, await bytes());
      expect(verdicts.get(name)).toEqual(await verifyBundle(path, { ...HONEST_OPTIONS, ...options }));
    });
  });
});
