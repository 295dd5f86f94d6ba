import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Digest,
  digestOf,
  encodeHex,
  isConsistent,
  isSameHash,
  judgeTlogProof,
  leafHash,
  parseCheckpoint,
  parsePublicKeyText,
  parseSignedNote,
  parseTlogProof,
  rootOf,
  SIGNATURE_TYPE,
  type Vkey,
  vkeyOf,
} from '#libs/crypto';
import { decodeEvent } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

const KEYS = '/.well-known/service/checkpoint-keys.json';
const NO_WITNESSES = { logs: [], witnesses: [], groups: [], quorum: 'none' };
const ORIGIN = `ags.example.com/ledger/${ORG}`;

let bench: ApiBench;
beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.seal();
});
afterAll(() => bench.close());

const get = (path: string, key = 'admin') => bench.get(path, bearer(key));
const make = (key = 'admin') => bench.send('POST', '/v1/ledger/checkpoint', { headers: bearer(key) });
const grow = async (deeds: number): Promise<void> => {
  for (let count = 0; count < deeds; count += 1) await bench.ledger.recordAction(ORG, 'refused', AGENT);
  await bench.seal();
};
const ledger = async (): Promise<readonly LedgerEvent['data'][]> =>
  (await bench.ledger.ledgerOf(ORG)).map((event) => decodeEvent<LedgerEvent>(event).event.data);
const leafOf = ({ body_hash: hash }: { body_hash: Digest }): Uint8Array =>
  leafHash(Buffer.from(hash.slice('sha256:'.length), 'hex'));
/** From the ledger's rows alone. */
const rootAt = async (size: number): Promise<Uint8Array> => rootOf((await ledger()).slice(0, size).map(leafOf));
/** As a reader makes it: of the published key set and the origin. */
const vkeys = async (): Promise<readonly Vkey[]> =>
  ((await bench.get(KEYS)).json?.['keys'] as { public_key: string }[]).map(({ public_key }) =>
    vkeyOf(ORIGIN, SIGNATURE_TYPE.ed25519, parsePublicKeyText(public_key).bytes),
  );
const treeIn = (note: string) => parseCheckpoint(parseSignedNote(Buffer.from(note)).text);

describe('before the first checkpoint', () => {
  it('there is none to read, no key, and no proof of a deed', async () => {
    const [first] = await ledger();
    for (const path of ['checkpoint', 'checkpoints', 'checkpoints?size=1', 'consistency']) {
      expect(await get(`/v1/ledger/${path}`)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    }
    expect(await get(`/v1/deeds/${first?.deed}/proof`)).toMatchObject({ status: 404 });
    expect((await bench.get(KEYS)).json).toEqual({ object: 'checkpoint_key_set', keys: [] });
  });
});

describe('POST /v1/ledger/checkpoint', () => {
  it('signs the root of all deeds, and answers with the same one while nothing is sealed', async () => {
    await grow(4);
    const { status, json } = await make();
    expect([status, json?.['origin'], json?.['size'], json?.['is_new']]).toEqual([200, ORIGIN, 5, true]);
    expect(json?.['root']).toBe(Buffer.from(await rootAt(5)).toString('base64'));
    const again = await make();
    expect(again.json).toEqual({ ...json, is_new: false });
    expect((await get('/v1/ledger/checkpoint')).text).toBe(json?.['note']);
  });

  it('is an admin’s', async () => {
    expect(await make('agent')).toMatchObject({ status: 403 });
  });

  it('signs nothing for a ledger that does not continue what was signed', async () => {
    await make();
    const { size } = treeIn((await get('/v1/ledger/checkpoint')).text);
    await bench.pool.query(
      `insert into ledger.broken_ledgers (org, reason, size, signed_size, since) values ($1, 'shorter', 1, $2, 'now')`,
      [ORG, size],
    );
    await grow(1);
    expect(await make()).toMatchObject({ status: 409, json: { error: { code: 'ledger_inconsistent' } } });
    expect(treeIn((await get('/v1/ledger/checkpoint')).text).size).toBe(size);
    await bench.pool.query('delete from ledger.broken_ledgers');
    expect((await make()).status).toBe(200);
  });
});

describe('a reader', () => {
  let size = 0;
  beforeEach(async () => {
    await grow(2);
    size = (await make()).json?.['size'] as number;
  });

  it('checks every deed against the checkpoint by its proof, with the published key alone', async () => {
    const logs = await vkeys();
    for (const deed of (await ledger()).slice(0, size)) {
      const { status, text, headers } = await get(`/v1/deeds/${deed.deed}/proof`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      const proof = parseTlogProof(Buffer.from(text));
      const judged = judgeTlogProof(proof, { leafHash: leafOf(deed), policy: NO_WITNESSES, logs });
      expect(judged).toMatchObject({ result: 'included', index: deed.seq - 1 });
    }
  });

  it('sees that a later checkpoint continues an earlier one', async () => {
    const before = treeIn((await get('/v1/ledger/checkpoint')).text);
    await grow(3);
    const after = treeIn(((await make()).json?.['note'] as string) ?? '');
    const { json } = await get(`/v1/ledger/consistency?from=${before.size}&to=${after.size}`);
    const proof = (json?.['hashes'] as string[]).map((hash) => Buffer.from(hash, 'base64'));
    const [from, to] = [before.size, after.size];
    expect(isConsistent({ from, to, fromRoot: before.root, toRoot: after.root, proof })).toBe(true);
    expect((await get(`/v1/ledger/checkpoints?size=${from}`)).text).not.toBe('');
    expect(isSameHash(treeIn((await get(`/v1/ledger/checkpoints?size=${from}`)).text).root, before.root)).toBe(true);
    expect(await get(`/v1/ledger/checkpoints?size=${to + 7}`)).toMatchObject({ status: 404 });
  });

  it.each([
    ['from=2&to=999999', 'to'],
    ['from=3&to=2', 'from'],
    ['from=x', 'from'],
    ['to=0', 'to'],
    ['sizes=1', 'sizes'],
  ])('is told that ?%s is no pair of sizes', async (query, param) => {
    expect(await get(`/v1/ledger/consistency?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'validation_failed', param } },
    });
  });

  it('finds the keys for any page, with a tag', async () => {
    const { text, headers } = await bench.get(KEYS);
    const tag = headers.get('etag') ?? '';
    expect([tag, headers.get('access-control-allow-origin')]).toEqual([`"${digestOf(text)}"`, '*']);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect((await bench.get(KEYS, { 'If-None-Match': tag })).status).toBe(304);
  });

  it('with an agent key gets proofs of its own deeds alone', async () => {
    await bench.ledger.recordAction(ORG, 'refused');
    await bench.seal();
    await make();
    const deeds = await ledger();
    const own = deeds.find(({ kind, body }) => kind === 'action' && body.includes(AGENT));
    const others = deeds.find(({ kind, body }) => kind === 'action' && !body.includes(AGENT));
    expect((await get(`/v1/deeds/${own?.deed}/proof`, 'agent')).status).toBe(200);
    expect((await get(`/v1/deeds/${others?.deed}/proof`, 'agent')).status).toBe(404);
    expect((await get('/v1/ledger/checkpoint', 'agent')).status).toBe(200);
  });
});

describe('the proof of a deed whose stored bytes were altered', () => {
  const altered = async (work: (deed: LedgerEvent['data']) => Promise<void>): Promise<void> => {
    await grow(2);
    await make();
    const [deed] = (await ledger()).slice(-2);
    const place = [`ledger-${ORG}`, (deed?.seq ?? 0) - 1];
    const at = 'where stream = $1 and revision = $2';
    const { rows } = await bench.pool.query<{ data: string }>(`select data from event_store.events ${at}`, place);
    const put = (data?: string) =>
      bench.pool.query(`update event_store.events set data = $3 ${at}`, [...place, data ?? '{}']);
    await put();
    try {
      await work(deed as LedgerEvent['data']);
    } finally {
      await put(rows[0]?.data);
    }
  };

  it('is that of the deed as it was sealed: only who asks for its bytes is refused', () =>
    altered(async (deed) => {
      expect((await get(`/v1/deeds/${deed.deed}`)).status).toBe(503);
      const { status, text } = await get(`/v1/deeds/${deed.deed}/proof`);
      expect(status).toBe(200);
      const proof = parseTlogProof(Buffer.from(text));
      const judged = judgeTlogProof(proof, { leafHash: leafOf(deed), policy: NO_WITNESSES, logs: await vkeys() });
      expect(judged).toMatchObject({ result: 'included', index: deed.seq - 1 });
    }));

  it('is refused at once where the stored hashes are damaged, too: nothing leads to what was signed', () =>
    altered(async ({ deed }) => {
      await bench.pool.query(
        'update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where org = $1',
        [ORG],
      );
      for (const key of ['admin', 'agent']) {
        expect(await get(`/v1/deeds/${deed}/proof`, key)).toMatchObject({
          status: 409,
          json: { error: { code: 'ledger_inconsistent' } },
        });
      }
    }));
});

it('the roots are those of RFC 6962 at every size, through the API alone', async () => {
  const first = (await ledger()).length;
  for (let size = first; size < first + 12; size += 1) {
    await grow(1);
    const { size: signed, root } = treeIn((await make()).json?.['note'] as string);
    expect(encodeHex(root)).toBe(encodeHex(await rootAt(signed)));
  }
});
