import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ed25519Cosigner,
  encodeVkey,
  judgeCheckpoint,
  parseAddCheckpoint,
  signatureLine,
  signatureOf,
  SigningKey,
  TLOG_SIZE_MEDIA_TYPE,
  type Vkey,
} from '#libs/crypto';
import { type Failpoint, type OrgId, placeFailpoints } from '#libs/domain/kernel';
import {
  checkpointVkey,
  LedgerInconsistent,
  LedgerProofs,
  type SignedTree,
  tlogPolicyOf,
  WitnessAsker,
  WitnessAsking,
  type WitnessAskingParts,
  type WitnessedTree,
  type WitnessStanding,
} from '#libs/domain/ledger';
import { EgressWitnessDoor } from '#libs/infra/ledger';
import { SystemRandomness } from '#libs/infra/runtime';
import { type ServedWitness, serveHere } from '../../apps/cli/src/witness/testing/served-witness.js';
import { readWitnessKey } from '../../apps/cli/src/witness/witness-directory.js';
import { parseTrustedService, TrustedLogs } from '../../apps/cli/src/witness/trusted-logs.js';
import { checkpointIn, type CheckpointProcess, CheckpointScene, NO_OTHER_TREES } from '../support/checkpoint-scene.js';
import { type Lie, LyingWitness } from '../support/lying-witness.js';

const AT_S = 1_790_000_000;

let scene: CheckpointScene;
let service: CheckpointProcess;
let witness: ServedWitness;
let vkeys: readonly Vkey[];
let publicKey: string;
beforeAll(async () => {
  scene = await CheckpointScene.start();
  service = scene.process();
  await service.make(await scene.organization());
  publicKey = (await service.keys.list())[0]?.publicKey ?? '';
  witness = await serveHere(new TrustedLogs([], [parseTrustedService('governance.example', publicKey)]));
  vkeys = (await readWitnessKey(witness.directory)).vkeys;
});
afterAll(async () => {
  await witness.close();
  await scene.close();
});
afterEach(() => placeFailpoints(null));

const named = (name: string, vkey: Vkey | undefined, url = witness.url) => ({
  ...{ name, url, vkey: vkey === undefined ? '' : encodeVkey(vkey) },
});
const witnessedBy = async (org: OrgId, quorum: number, ...witnesses: ReturnType<typeof named>[]): Promise<void> => {
  await service.policies.replace(org, { quorum, witnesses }, scene.metadata(org));
};
/** As a pass does: everyone who is to be asked has answered. */
const pass = async (org: OrgId, by = service, isPressing = false): Promise<readonly (WitnessStanding | null)[]> =>
  Promise.all((await by.asking.begin(org, isPressing)).map(({ done }) => done));
const cosigned = async (org: OrgId) =>
  (await scene.events(org)).flatMap((event) => (event.type === 'CheckpointCosigned' ? [event.data] : []));
/** Rows are the projector's to write: here the stream is asked. */
const proofs = (): LedgerProofs => new LedgerProofs(service.journal, service.trees, NO_OTHER_TREES, service.policies);
const newest = async (org: OrgId): Promise<WitnessedTree> => (await proofs().newest(org)) as WitnessedTree;
const judged = async (org: OrgId) => {
  const { note, checkpoint } = await newest(org);
  const policy = tlogPolicyOf(await service.policies.of(org));
  return judgeCheckpoint(Buffer.from(note), policy, [checkpointVkey(checkpoint.origin, publicKey)]);
};
const standingOf = async (org: OrgId): Promise<WitnessStanding | undefined> => {
  const { origin } = await service.journal.tail(org);
  return [...(await service.standings.of(org, origin ?? '')).values()][0];
};

const askingOf = (journal: WitnessAskingParts['journal'], timeoutMs = 10_000): WitnessAsking => {
  const door = new EgressWitnessDoor(scene.door, timeoutMs);
  const sources = { clock: scene.bench.clock, randomness: new SystemRandomness(), logger: scene.logger };
  return new WitnessAsking({ ...service, ...sources, door, asker: new WitnessAsker(door), journal });
};

describe('a witness that is asked', () => {
  it.each([
    ['Ed25519', 0],
    ['ML-DSA-44', 1],
  ])('cosigns each checkpoint by its %s key, and a note that is served has its line', async (_, key) => {
    const org = await scene.organization(3);
    await witnessedBy(org, 1, named('w', vkeys[key]));
    await service.make(org);
    expect(await newest(org)).toMatchObject({ quorum: 'not_met', witnessedBy: [] });
    expect(await pass(org)).toMatchObject([{ result: 'cosigned', size: 3 }]);
    await scene.deeds(org, 4);
    await service.make(org);
    expect(await pass(org)).toMatchObject([{ result: 'cosigned' }]);
    expect(await newest(org)).toMatchObject({ quorum: 'met', witnessedBy: [{ name: 'w' }] });
    expect(await judged(org)).toMatchObject({ result: 'signed', quorum: 'met', witnesses: [{ name: 'w', at: AT_S }] });
    expect((await proofs().ofDeed(org, 2)) ?? '').toContain((await cosigned(org)).at(-1)?.line);
  });

  it('is asked no more about what it has cosigned, by whomever', async () => {
    const org = await scene.organization(2);
    await witnessedBy(org, 1, named('w', vkeys[0]));
    await service.make(org);
    await Promise.all([pass(org), pass(org, scene.process())]);
    expect(await pass(org)).toEqual([]);
    expect(await cosigned(org)).toHaveLength(1);
  });

  it('is sent one proof from its own size where that is not known here', async () => {
    const org = await scene.organization(5);
    await witnessedBy(org, 1, named('w', vkeys[0]));
    await service.make(org);
    await pass(org);
    await scene.deeds(org, 3);
    await service.make(org);
    await scene.pool.query('delete from ledger.witness_standings');
    expect(await pass(org)).toMatchObject([{ result: 'cosigned' }]);
    expect(await cosigned(org)).toHaveLength(2);
  });

  it('that was asked about a later checkpoint meanwhile contradicts nobody', async () => {
    const org = await scene.organization(2);
    await witnessedBy(org, 1, named('w', vkeys[0]));
    await service.make(org);
    const before = await service.journal.tail(org);
    await scene.deeds(org, 2);
    await service.make(org);
    await pass(org);
    // As if the first process had read the journal before the second one signed.
    const tails = [{ ...before, cosignatures: [] }];
    const tail = async () => tails.shift() ?? service.journal.tail(org);
    const behind = askingOf({ tail, cosign: (...said) => service.journal.cosign(...said) });
    expect(await Promise.all((await behind.begin(org)).map(({ done }) => done))).toEqual([null]);
    expect(await service.broken.of(org)).toBeNull();
  });

  it('is asked with hashes that were made anew where those that are stored prove nothing', async () => {
    const org = await scene.organization(5);
    await witnessedBy(org, 1, named('w', vkeys[0]));
    await service.make(org);
    await pass(org);
    await scene.deeds(org, 3);
    await service.make(org);
    await scene.pool.query(
      `update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where org = $1`,
      [org],
    );
    expect(await pass(org)).toMatchObject([{ result: 'cosigned' }]);
  });
});

describe('how far witnesses are behind', () => {
  it('is known by the first deed that the quorum has not cosigned, from when it asked for it', async () => {
    const org = await scene.organization(3);
    expect(await service.watch.lag(org)).toBeNull();
    scene.bench.clock.ms += 3_600_000;
    const since = new Date(scene.bench.clock.ms).toISOString();
    await witnessedBy(org, 1, named('w', vkeys[0]));
    expect(await service.watch.lag(org)).toMatchObject({ size: 0, since });
    await service.make(org);
    await pass(org);
    const { size } = (await service.journal.tail(org)).last?.checkpoint ?? { size: 0 };
    await scene.deeds(org, 2);
    scene.bench.clock.ms += 7_200_000;
    expect(await service.watch.lag(org)).toMatchObject({ size });
    expect(await service.watch.ageMs(org)).toBeGreaterThanOrEqual(7_200_000);
    await service.make(org);
    await pass(org);
    const { size: now } = (await service.journal.tail(org)).last?.checkpoint ?? { size: 0 };
    expect((await service.watch.lag(org))?.size ?? now).toBe(now);
  });

  it('names those that do not know the ledger, with the key that they need', async () => {
    const liar = await LyingWitness.start();
    liar.lie = answer(404);
    const org = await scene.organization(1);
    await witnessedBy(org, 1, named('liar', ed25519Cosigner('liar', LIAR, 1).vkey, liar.url));
    await service.make(org);
    await pass(org);
    const verifierKeys = [encodeVkey(checkpointVkey(`governance.example/ledger/${org}`, publicKey))];
    expect(await service.watch.unintroduced(org)).toEqual([{ name: 'liar', verifierKeys }]);
    await liar.close();
  });
});

const SIZE = { 'Content-Type': TLOG_SIZE_MEDIA_TYPE };
const answer =
  (status: number, body = '', headers = {}): Lie =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
/** Of another note than it was asked about, by the right key. */
const cosignsAnother: Lie = (_, response, body) => {
  const { note } = parseAddCheckpoint(Buffer.from(body));
  const text = note.text.replace(/\n\d+\n/, '\n999\n');
  response.writeHead(200).end(signatureLine(signatureOf(text, ed25519Cosigner('liar', LIAR, AT_S))));
};
/** At no time, which says nothing. */
const cosignsAtNoTime: Lie = (_, response, body) => {
  const { note } = parseAddCheckpoint(Buffer.from(body));
  const line = signatureOf(note.text, ed25519Cosigner('liar', LIAR, AT_S));
  line.signature.fill(0, 0, 8);
  response.writeHead(200).end(signatureLine(line));
};
const LIAR = SigningKey.generate();
const drips: Lie = (_, response) => {
  response.writeHead(200);
  const dripping = setInterval(() => response.write('x'), 50);
  response.on('close', () => clearInterval(dripping));
};

describe('a witness that lies', () => {
  let liar: LyingWitness;
  let org: OrgId;
  beforeEach(async () => {
    liar = await LyingWitness.start();
    org = await scene.organization(3);
    await witnessedBy(org, 1, named('liar', ed25519Cosigner('liar', LIAR, 1).vkey, liar.url));
    await service.make(org);
  });
  afterEach(() => liar.close());

  it.each<[string, Lie, string, string]>([
    ['cosigns another note', cosignsAnother, 'failing', 'holds no cosignature of this checkpoint by its key'],
    ['cosigns at no time', cosignsAtNoTime, 'failing', 'holds no cosignature of this checkpoint by its key'],
    ['answers garbage', answer(200, '\u2014 liar garbage\n'), 'failing', 'holds no cosignature'],
    ['answers a megabyte', answer(200, 'x'.repeat(1_048_576)), 'failing', 'larger than 64 KiB'],
    ['drips', drips, 'failing', 'did not answer in time'],
    ['redirects', answer(307, '', { Location: 'http://127.0.0.1:9/' }), 'failing', 'follows no redirect'],
    ['fails', answer(500), 'failing', 'It answered 500'],
    ['says 409 and no size', answer(409, 'x', SIZE), 'failing', 'It answered 409'],
    ['says its size again and again', answer(409, '1\n', SIZE), 'failing', 'It answered 409'],
    [
      'does not know the log',
      answer(404),
      'unknown_log',
      '(404). Give its operator the verifier key governance.example/ledger/',
    ],
    ['does not know the key', answer(403), 'unknown_log', '(403). Give its operator'],
  ])('and %s counts for nothing, and is asked again after a pause', async (_, lie, result, detail) => {
    liar.lie = lie;
    const asking = askingOf(service.journal, 1_000);
    const [standing] = await Promise.all((await asking.begin(org)).map(({ done }) => done));
    expect(standing).toMatchObject({ result, failures: 1, size: 0, detail: expect.stringContaining(detail) as string });
    const asked = liar.asked.length;
    expect(await pass(org)).toEqual([]);
    scene.bench.clock.ms += 31_000;
    expect(await askingOf(service.journal, 1_000).begin(org)).toHaveLength(1);
    expect(asked).toBeLessThanOrEqual(2);
    expect([await cosigned(org), await service.broken.of(org)]).toEqual([[], null]);
  });

  it('is asked at pauses that grow to a quarter of an hour, and no more', async () => {
    const pauses: number[] = [];
    for (let failure = 0; failure < 8; failure += 1) {
      const [standing] = await pass(org);
      const next = Date.parse(standing?.nextTryAt ?? '');
      pauses.push((next - scene.bench.clock.ms) / 1_000);
      scene.bench.clock.ms = next;
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
  });

  it.each<[string, Lie, string, string]>([
    ['says 409 with a size above ours', answer(409, '9\n', SIZE), 'witness_ahead', 'It cosigned a ledger of 9 deeds'],
    ['says 422', answer(422), 'witness_disagrees', 'does not continue what it cosigned before'],
  ])('and %s breaks the ledger, and is never asked again', async (_, lie, reason, detail) => {
    liar.lie = lie;
    expect(await pass(org)).toMatchObject([{ result: 'disagrees', detail: expect.stringContaining(detail) as string }]);
    expect(await service.broken.of(org)).toMatchObject({ reason, size: 3 });
    scene.bench.clock.ms += 3_600_000;
    expect([await pass(org), await pass(org, service, true), liar.asked.length]).toEqual([[], [], 1]);
    await expect(service.make(org)).rejects.toThrow(LedgerInconsistent);
    // Nobody can prove what it says: once it is asked no more, an operator ends it by looking.
    await witnessedBy(org, 0);
    expect((await service.maker.lookAgain(org, scene.metadata(org)))?.signed.checkpoint.size).toBeGreaterThan(0);
    expect(await service.broken.of(org)).toBeNull();
  });
});

describe('an older database put back under a living witness', () => {
  let elsewhere = '';
  beforeEach(async () => {
    elsewhere = await mkdtemp(join(tmpdir(), 'witnesses-'));
  });
  afterEach(() => rm(elsewhere, { recursive: true }));
  /** On a machine that remembers nothing of what was signed: there the witness alone can tell. */
  const anewElsewhere = (): CheckpointProcess => scene.process(undefined, elsewhere);

  /** As it was at a checkpoint: what came later is gone, in the ledger, in the journal, and in the rows beside. */
  const restored = async (kept = 0): Promise<{ readonly org: OrgId; readonly lost: SignedTree }> => {
    const org = await scene.organization(4);
    await witnessedBy(org, 1, named('w', vkeys[0]));
    await service.make(org);
    await pass(org);
    const { revision } = await service.journal.tail(org);
    const size = (await scene.sizes(org)).at(-1) as number;
    await scene.deeds(org, 5);
    await service.make(org);
    await pass(org);
    const lost = (await service.journal.tail(org)).last as SignedTree;
    await scene.cutLedger(org, size + kept);
    await scene.pool.query(`delete from event_store.events where stream = $1 and revision > $2`, [
      `checkpoints-${org}`,
      revision,
    ]);
    await scene.pool.query(`update ledger.witness_standings set size = $2 where org = $1`, [org, size]);
    await scene.pool.query(`delete from ledger.frontiers where org = $1`, [org]);
    await scene.pool.query(`delete from ledger.tiles where org = $1`, [org]);
    return { org, lost };
  };

  it.each([
    ['is shorter than what it cosigned', 2, 0, 'witness_ahead'],
    ['is longer, and another', 0, 12, 'witness_disagrees'],
  ])(
    'reads as a ledger that does not continue where it %s, and nothing more is signed',
    async (_, kept, deeds, reason) => {
      const { org, lost } = await restored(kept);
      const anew = anewElsewhere();
      if (deeds > 0) await scene.deeds(org, deeds);
      const made = await anew.make(org);
      expect(await pass(org, anew)).toMatchObject([{ result: 'disagrees' }]);
      expect(await anew.broken.of(org)).toMatchObject({ reason });
      const { origin } = checkpointIn(lost.note);
      const [dispute] = await anew.disputes.of(org, origin);
      expect(dispute).toMatchObject({ name: 'w', ourNote: made?.signed.note });
      expect(checkpointIn(dispute?.theirNote ?? '')).toEqual(checkpointIn(lost.note));
      const sizes = await scene.sizes(org);
      await scene.deeds(org, 9);
      await expect(anew.make(org)).rejects.toThrow(LedgerInconsistent);
      // What the witness shows is signed by our own key: looking again ends nothing, and neither does asking nobody.
      await expect(anew.maker.lookAgain(org, scene.metadata(org))).rejects.toThrow(LedgerInconsistent);
      await witnessedBy(org, 0);
      await expect(anew.maker.lookAgain(org, scene.metadata(org))).rejects.toThrow(LedgerInconsistent);
      expect(await scene.sizes(org)).toEqual(sizes);
    },
  );

  it('is witnessed again under another origin, once its operator has accepted the break', async () => {
    const { org } = await restored();
    const anew = anewElsewhere();
    await scene.deeds(org, 1);
    await anew.make(org);
    await pass(org, anew);
    await anew.maker.acceptBreak(org, 'the disk was lost', scene.metadata(org));
    expect(await pass(org, anew)).toMatchObject([{ result: 'cosigned' }]);
    expect((await newest(org)).checkpoint.origin).toMatch(/\/\d+$/);
    expect(await service.broken.of(org)).toBeNull();
  });
});

describe('a process that is killed', () => {
  it.each<Failpoint>(['wit.answered', 'wit.cosigned', 'wit.cosigned.ack'])(
    'at %s has lost no cosignature, and the next one records none twice',
    async (point) => {
      const org = await scene.organization(3);
      await witnessedBy(org, 1, named('w', vkeys[0]));
      await service.make(org);
      const killed = scene.process();
      await scene.killedAt(point, () => pass(org, killed));
      const isRecorded = point === 'wit.cosigned.ack';
      expect(await cosigned(org)).toHaveLength(isRecorded ? 1 : 0);
      expect(await pass(org, scene.process())).toHaveLength(isRecorded ? 0 : 1);
      expect(await cosigned(org)).toHaveLength(1);
      expect(await judged(org)).toMatchObject({ quorum: 'met' });
      // And goes on with the next checkpoint.
      await scene.deeds(org, 2);
      await service.make(org);
      expect(await pass(org)).toMatchObject([{ result: 'cosigned' }]);
    },
  );

  it.each<Failpoint>(['wit.answered', 'wit.disputed'])(
    'at %s has not forgotten that a witness disagrees, and keeps its evidence once',
    async (point) => {
      const liar = await LyingWitness.start();
      liar.lie = answer(422);
      const org = await scene.organization(3);
      await witnessedBy(org, 1, named('liar', ed25519Cosigner('liar', LIAR, 1).vkey, liar.url));
      await service.make(org);
      await scene.killedAt(point, () => pass(org, scene.process()));
      expect(await service.broken.of(org)).toBeNull();
      await pass(org);
      const { origin } = await service.journal.tail(org);
      expect(await service.disputes.of(org, origin ?? '')).toHaveLength(1);
      expect(await service.broken.of(org)).toMatchObject({ reason: 'witness_disagrees' });
      expect(await standingOf(org)).toMatchObject({ result: 'disagrees' });
      await liar.close();
    },
  );
});
