import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  digestOf,
  ed25519Cosigner,
  encodeVkey,
  parseCheckpoint,
  parseSignedNote,
  parseTlogProof,
  signatureLine,
  signatureOf,
  SigningKey,
} from '#libs/crypto';
import { decodeEvent, OPERATOR, timestampOf } from '#libs/domain/kernel';
import { CheckpointJournal, type LedgerEvent, WitnessPolicies } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

const AT_S = 1_790_000_000;
const JSON_WANTED = { ...bearer('admin'), Accept: 'application/json' };

let bench: ApiBench;
/** Of the checkpoints that were made, the second of which alone has the cosignatures that are asked for. */
let sizes: readonly number[];
let commands = 0;

const keys = { one: SigningKey.generate(), two: SigningKey.generate() };
type Name = keyof typeof keys;
const cosigner = (name: Name, atS: number) => ed25519Cosigner(`${name}.example`, keys[name], atS);
const vkeyOf = (name: Name): string => encodeVkey(cosigner(name, 1).vkey);
const metadata = () => {
  commands += 1;
  const now = timestampOf(AT_S * 1_000);
  return { org: ORG, actor: OPERATOR, requestId: null, commandId: `witness ${commands}`, now };
};
const grownAndSigned = async (): Promise<number> => {
  await bench.ledger.recordAction(ORG, 'refused');
  await bench.seal();
  const { json } = await bench.send('POST', '/v1/ledger/checkpoint', { headers: bearer('admin') });
  return json?.['size'] as number;
};
/** As a witness answers it. */
const cosign = async (name: Name, atS: number): Promise<void> => {
  const journal = new CheckpointJournal(bench.store);
  const { last } = await journal.tail(ORG);
  const note = parseSignedNote(Buffer.from(last?.note ?? ''));
  const line = signatureLine(signatureOf(note.text, cosigner(name, atS)));
  const place = { org: ORG, origin: last?.checkpoint.origin ?? '', size: last?.checkpoint.size ?? 0 };
  const said = { witness: digestOf(vkeyOf(name)), name, line, cosigned_at: timestampOf(atS * 1_000) };
  await journal.cosign(ORG, { ...place, ...said, at: timestampOf(AT_S * 1_000) }, metadata());
};

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  const { runner, streams } = bench.ledger;
  const egress = { check: () => Promise.resolve() };
  const policies = new WitnessPolicies(runner, streams, { egress, isProduction: true });
  const first = await grownAndSigned();
  await cosign('one', AT_S);
  const second = await grownAndSigned();
  await cosign('two', AT_S + 20);
  await cosign('one', AT_S + 10);
  const third = await grownAndSigned();
  await cosign('one', AT_S + 30);
  sizes = [first, second, third];
  const witnesses = (['one', 'two'] as const).map((name) => {
    return { name, vkey: vkeyOf(name), url: `https://${name}.example` };
  });
  await policies.replace(ORG, { quorum: 2, witnesses }, metadata());
});
afterAll(() => bench.close());

const get = (path: string, headers: Record<string, string> = JSON_WANTED) => bench.get(path, headers);
const seconds = (atS: number): string => timestampOf(atS * 1_000);

describe('of several checkpoints', () => {
  it('each says who has cosigned it, the earliest first, and whether these are enough', async () => {
    // One after the other: each read of a bench projects the log itself.
    const read = [];
    for (const size of sizes) read.push((await get(`/v1/ledger/checkpoints?size=${size}`)).json);
    const [first, second, third] = read;
    expect(first).toMatchObject({ quorum: 'not_met', witnessed_by: [{ name: 'one', at: seconds(AT_S) }] });
    expect(second).toMatchObject({
      quorum: 'met',
      witnessed_by: [
        { name: 'one', at: seconds(AT_S + 10) },
        { name: 'two', at: seconds(AT_S + 20) },
      ],
    });
    expect(third).toMatchObject({ quorum: 'not_met', witnessed_by: [{ name: 'one' }] });
  });

  it('the smallest witnessed one speaks for a deed, and the newest for what no witnessed one covers', async () => {
    const [first = 0, second = 0, third = 0] = sizes;
    for (const [covering, size] of [
      [1, second],
      [first, second],
      [second, second],
      [second + 1, third],
      [third, third],
    ]) {
      expect((await get(`/v1/ledger/checkpoints?covering=${covering}`)).json?.['size']).toBe(size);
    }
    expect((await get(`/v1/ledger/checkpoints?covering=${third + 9}`)).status).toBe(404);
    expect(await get('/v1/ledger/checkpoints?covering=1&size=1')).toMatchObject({
      ...{ status: 400, json: { error: { code: 'validation_failed', param: 'covering' } } },
    });
  });

  it('the newest witnessed one is given where it is asked for, with all its lines', async () => {
    const { text, headers } = await get('/v1/ledger/checkpoint?witnessed=true', bearer('admin'));
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(parseCheckpoint(parseSignedNote(Buffer.from(text)).text).size).toBe(sizes[1]);
    expect(text.match(/^— /gm)).toHaveLength(3);
    expect((await get('/v1/ledger/checkpoint')).json?.['size']).toBe(sizes[2]);
    expect((await get('/v1/ledger/witnesses')).json).toMatchObject({
      witnessed: { size: sizes[1], at: seconds(AT_S + 20) },
    });
  });

  it('a proof and a bundle hold the one that speaks for their deeds', async () => {
    const [deed] = (await bench.ledger.ledgerOf(ORG)).map((event) => decodeEvent<LedgerEvent>(event).event.data);
    const { text } = await get(`/v1/deeds/${deed?.deed}/proof`, bearer('admin'));
    const { checkpoint, note } = parseTlogProof(Buffer.from(text));
    expect([checkpoint.size, note.signatures.length]).toEqual([sizes[1], 3]);
  });
});
