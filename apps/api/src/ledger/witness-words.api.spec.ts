import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ed25519Cosigner, encodeVkey, parseAddCheckpoint, signatureLine, signatureOf, SigningKey } from '#libs/crypto';
import { OPERATOR, type OrgId, timestampOf } from '#libs/domain/kernel';
import { WitnessPolicies } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { CheckpointScene } from '../../../../test/support/checkpoint-scene.js';
import { deferred } from '../../../../test/support/deferred.js';
import { type Lie, LyingWitness } from '../../../../test/support/lying-witness.js';
import { LedgerModule } from './ledger.module.js';
import { WitnessWords } from './witness-words.js';

const AT_S = 1_790_000_000;
const OPEN_DOOR = {
  settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
};

const key = SigningKey.generate();
const vkey = encodeVkey(ed25519Cosigner('slow', key, 1).vkey);
const cosigns: Lie = (_, response, body) => {
  const { note } = parseAddCheckpoint(Buffer.from(body));
  response.writeHead(200).end(signatureLine(signatureOf(note.text, ed25519Cosigner('slow', key, AT_S))));
};

let witness: LyingWitness;
beforeAll(async () => {
  witness = await LyingWitness.start();
});
afterAll(() => witness.close());
afterEach(() => {
  witness.lie = cosigns;
  witness.asked.length = 0;
});

/** Until it is released, nobody hears what the witness says. */
const held = (): { readonly release: () => void } => {
  const { promise, resolve } = deferred();
  witness.lie = (...asked) => void promise.then(() => cosigns(...asked));
  return { release: resolve };
};

describe('POST /v1/ledger/checkpoint', () => {
  let bench: ApiBench;
  beforeAll(async () => {
    bench = await ApiBench.start([LedgerModule], OPEN_DOOR);
    await bench.ledger.activateKey();
    await bench.seal();
    const { runner, streams } = bench.ledger;
    const policies = new WitnessPolicies(runner, streams, {
      egress: { check: () => Promise.resolve() },
      isProduction: false,
    });
    const metadata = {
      org: ORG,
      actor: OPERATOR,
      requestId: null,
      commandId: 'one witness',
      now: timestampOf(AT_S * 1_000),
    };
    await policies.replace(ORG, { quorum: 1, witnesses: [{ name: 'slow', vkey, url: witness.url }] }, metadata);
  });
  afterAll(() => bench.close());

  it('answers after 8 seconds, and says that a witness that is silent so long is still asked', async () => {
    const { release } = held();
    const beganMs = performance.now();
    const { status, json } = await bench.send('POST', '/v1/ledger/checkpoint', { headers: bearer('admin') });
    expect(performance.now() - beganMs).toBeGreaterThan(7_900);
    release();
    expect(status).toBe(200);
    expect(json).toMatchObject({ is_new: true, quorum: 'not_met', witnessed_by: [] });
    expect(json?.['witnesses']).toEqual([{ name: 'slow', state: 'still_asked', detail: null }]);
    expect(witness.asked).toHaveLength(1);
  });
});

describe('what a witness says that was still asked', () => {
  let scene: CheckpointScene;
  let org: OrgId;
  beforeAll(async () => {
    scene = await CheckpointScene.start();
    org = await scene.organization(2);
  });
  afterAll(() => scene.close());

  it('is kept once it is there, and the next who ask find it current without asking', async () => {
    const { make, policies, asking, journal, standings } = scene.process();
    await policies.replace(
      org,
      { quorum: 1, witnesses: [{ name: 'slow', vkey, url: witness.url }] },
      scene.metadata(org),
    );
    await make(org);
    const { release } = held();
    const words = new WitnessWords({ policies, asking, journal, standings, logger: scene.logger }, 50);
    expect(await words.of(org)).toEqual([{ name: 'slow', state: 'still_asked', detail: null }]);
    release();
    await expect.poll(async () => (await journal.tail(org)).cosignatures.length, { timeout: 8_000 }).toBe(1);
    expect(await words.of(org)).toEqual([{ name: 'slow', state: 'current', detail: null }]);
    expect(witness.asked).toHaveLength(1);
  });
});
