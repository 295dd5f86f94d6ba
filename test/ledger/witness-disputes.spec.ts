import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ed25519Cosigner,
  encodeVkey,
  parseAddCheckpoint,
  signatureLine,
  signatureOf,
  SigningKey,
  TLOG_SIZE_MEDIA_TYPE,
} from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { LedgerInconsistent, type WitnessStanding } from '#libs/domain/ledger';
import { type CheckpointProcess, CheckpointScene } from '../support/checkpoint-scene.js';
import { deferred } from '../support/deferred.js';
import { type Lie, LyingWitness } from '../support/lying-witness.js';

const AT_S = 1_790_000_000;
const [WALTER, XENIA] = [SigningKey.generate(), SigningKey.generate()];

let scene: CheckpointScene;
let service: CheckpointProcess;
let walter: LyingWitness;
beforeAll(async () => {
  scene = await CheckpointScene.start();
  service = scene.process();
});
afterAll(() => scene.close());
beforeEach(async () => {
  walter = await LyingWitness.start();
});
afterEach(() => walter.close());

const named = (name: string, key: SigningKey, { url }: LyingWitness) => ({
  ...{ name, url, vkey: encodeVkey(ed25519Cosigner(name, key, 1).vkey) },
});
const isWalter = () => named('walter', WALTER, walter);
const asked = async (org: OrgId, ...witnesses: ReturnType<typeof named>[]): Promise<void> => {
  await service.policies.replace(org, { quorum: Math.min(1, witnesses.length), witnesses }, scene.metadata(org));
};
const pass = async (org: OrgId, by = service): Promise<readonly (WitnessStanding | null)[]> =>
  Promise.all((await by.asking.begin(org)).map(({ done }) => done));
const lookAgain = (org: OrgId, by = service) => by.maker.lookAgain(org, scene.metadata(org));

const hasLarger =
  (size: number, note: string | null = null): Lie =>
  ({ method }, response) => {
    if (method === 'POST') response.writeHead(409, { 'Content-Type': TLOG_SIZE_MEDIA_TYPE }).end(`${size}\n`);
    else if (note === null) response.writeHead(404).end();
    else response.writeHead(200).end(note);
  };
const contradicts: Lie = (_, response) => void response.writeHead(422).end();
const cosigns: Lie = (_, response, body) => {
  const line = signatureOf(parseAddCheckpoint(Buffer.from(body)).note.text, ed25519Cosigner('walter', WALTER, AT_S));
  response.writeHead(200).end(signatureLine(line));
};

describe('what a witness holds against a ledger', () => {
  it('is kept each time: what it shows later may prove what its first word only said', async () => {
    const org = await scene.organization(4);
    await asked(org, isWalter());
    await service.make(org);
    walter.lie = hasLarger(9);
    await pass(org);
    await asked(org);
    await lookAgain(org);
    // It is trusted again; then a backup is restored on a machine that remembers nothing of what was signed.
    await asked(org, isWalter());
    await scene.deeds(org, 14);
    await service.make(org);
    const { last, revision } = await service.journal.tail(org);
    const [lost, stream] = [last?.note ?? '', `checkpoints-${org}`];
    const { size, origin } = last?.checkpoint ?? { size: 0, origin: '' };
    await scene.cutLedger(org, size - 3);
    await scene.pool.query('delete from event_store.events where stream = $1 and revision >= $2', [stream, revision]);
    for (const table of ['frontiers', 'tiles']) {
      await scene.pool.query(`delete from ledger.${table} where org = $1`, [org]);
    }
    const restored = scene.process(undefined, await mkdtemp(join(tmpdir(), 'restored-')));
    await restored.make(org);
    walter.lie = hasLarger(size, lost);
    expect(await pass(org, restored)).toMatchObject([{ result: 'disagrees' }]);
    const kept = await restored.disputes.of(org, origin);
    expect(kept.map(({ theirNote }) => theirNote)).toEqual([null, lost]);
    await expect(lookAgain(org, restored)).rejects.toThrow(LedgerInconsistent);
    // Nor does it end with the witness: the note is proof, whoever shows it.
    await asked(org);
    await expect(lookAgain(org, restored)).rejects.toThrow(LedgerInconsistent);
  });

  it('holds up no later break where it was a word alone, and somebody has looked since', async () => {
    const org = await scene.organization(3);
    await asked(org, isWalter());
    await service.make(org);
    walter.lie = hasLarger(2 ** 53 - 1);
    await pass(org);
    await asked(org);
    await lookAgain(org);
    walter.lie = cosigns;
    await asked(org, isWalter());
    expect(await pass(org)).toMatchObject([{ result: 'cosigned' }]);
    const xenia = await LyingWitness.start();
    xenia.lie = contradicts;
    await asked(org, isWalter(), named('xenia', XENIA, xenia));
    scene.bench.clock.ms += 60_000;
    await scene.deeds(org, 1);
    await service.make(org);
    await pass(org);
    expect(await service.broken.of(org)).toMatchObject({ reason: 'witness_disagrees' });
    await asked(org, isWalter());
    await xenia.close();
    expect(await lookAgain(org)).not.toBeNull();
    expect(await service.broken.of(org)).toBeNull();
  });

  it('counts although another one was quicker to say that it disagrees', async () => {
    const org = await scene.organization(3);
    const xenia = await LyingWitness.start();
    await asked(org, isWalter(), named('xenia', XENIA, xenia));
    await service.make(org);
    // Walter has said that it has more, and is still asked what it shows, when Xenia breaks the ledger.
    const [showing, shown] = [deferred(), deferred()];
    walter.lie = (request, response, body) => {
      if (request.method === 'POST') return hasLarger(99)(request, response, body);
      showing.resolve();
      void shown.promise.then(() => response.writeHead(404).end());
    };
    xenia.lie = (request, response, body) =>
      void showing.promise.then(() => {
        if (request.method === 'POST') scene.bench.clock.ms += 1_000;
        contradicts(request, response, body);
      });
    const [first, second] = await service.asking.begin(org);
    await second?.done;
    shown.resolve();
    await first?.done;
    expect((await service.broken.of(org))?.reason).toBe('witness_disagrees');
    await asked(org, isWalter());
    await xenia.close();
    await expect(lookAgain(org)).rejects.toThrow(LedgerInconsistent);
  });

  it('is nothing where it was removed while it was asked', async () => {
    const org = await scene.organization(3);
    await asked(org, isWalter());
    await service.make(org);
    const [reached, told] = [deferred(), deferred()];
    walter.lie = (request, response, body) => {
      reached.resolve();
      void told.promise.then(() => contradicts(request, response, body));
    };
    const passing = pass(org);
    await reached.promise;
    await asked(org);
    told.resolve();
    expect(await passing).toEqual([null]);
    expect(await service.broken.of(org)).toBeNull();
  });
});

describe('checkpoints that are asked for at once', () => {
  it('are all made, by whomever, while the tree grows under them', async () => {
    const org = await scene.organization(2);
    const others = [service, scene.process(), scene.process()];
    let before = 0;
    for (let round = 0; round < 5; round += 1) {
      await scene.deeds(org, 3);
      const made = await Promise.all(others.map((process) => process.make(org)));
      const sizes = made.map((one) => one?.signed.checkpoint.size ?? 0);
      expect(Math.min(...sizes)).toBe(Math.max(...sizes));
      expect(sizes[0]).toBeGreaterThan(before);
      [before = 0] = sizes;
    }
  });
});
