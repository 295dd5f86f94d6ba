import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeDeedCose, digestOf, fingerprintOf, type SealKeyEntry, verifyBundle } from '#libs/crypto';
import { decodeEvent, StoreUnavailable } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { testId } from '../../../../test/support/given-log.js';
import { LedgerModule } from './ledger.module.js';

const SECOND_MS = 1_000;

type Json = Record<string, unknown>;
const REFUSED = { tool: 'crm.update_customer', outcome: 'denied', level: null, verdict: null };

let bench: ApiBench;
/**
 * By seq, 1: the organization; 2: a refused action of the harness's agent; 3: an executed one of another agent; 4: an
 * executed one of the harness's agent.
 */
let deeds: readonly LedgerEvent['data'][];

const get = (path: string, key = 'admin', headers: Record<string, string> = {}) =>
  bench.get(path, { ...bearer(key), ...headers });
const deed = (seq: number): LedgerEvent['data'] => deeds[seq - 1] as LedgerEvent['data'];
const seqsOf = (json: Record<string, unknown> | null): unknown[] =>
  (json?.['data'] as Record<string, unknown>[]).map(({ seq }) => seq);

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.seal();
  for (const [kind, agent] of [
    ['refused', AGENT],
    ['executed', undefined],
    ['executed', AGENT],
  ] as const) {
    await bench.ledger.recordAction(ORG, kind, agent);
    bench.ledger.clock.ms += SECOND_MS;
    await bench.seal();
  }
  deeds = (await bench.ledger.ledgerOf(ORG)).map((event) => decodeEvent<LedgerEvent>(event).event.data);
});
afterAll(() => bench.close());

describe('GET /v1/deeds', () => {
  it('lists the envelopes of the whole ledger by seq', async () => {
    const { status, json, headers } = await get('/v1/deeds');
    expect(status).toBe(200);
    expect(headers.get('service-projection-lag')).toBeNull();
    expect(json).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(seqsOf(json)).toEqual([1, 2, 3, 4]);
    const { deed: id, kind, action, issued_at, body_hash, prev_hash, kid, signature } = deed(2);
    expect((json?.['data'] as unknown[])[1]).toEqual({
      ...{ object: 'deed', id, seq: 2, kind, action, issued_at, body_hash, prev_hash, kid, signature },
      about: { ...REFUSED, agent: { id: AGENT, name: null } },
    });
  });

  it('says what each deed is about', async () => {
    const abouts = ((await get('/v1/deeds')).json?.['data'] as Json[]).map(({ about }) => about);
    const executed = { ...REFUSED, outcome: 'succeeded', level: 'L0', verdict: 'VERIFIED' };
    expect(abouts).toEqual([
      { admin: 'org.created', target: { type: 'org', id: ORG } },
      { ...REFUSED, agent: { id: AGENT, name: null } },
      { ...executed, agent: { id: expect.not.stringMatching(AGENT), name: null } },
      { ...executed, agent: { id: AGENT, name: null } },
    ]);
  });

  it('shows an agent the deeds of its own actions alone', async () => {
    expect(seqsOf((await get('/v1/deeds', 'agent')).json)).toEqual([2, 4]);
    expect(seqsOf((await get('/v1/deeds', 'neighbour')).json)).toEqual([]);
    expect(seqsOf((await get('/v1/deeds', 'stranger')).json)).toEqual([]);
  });

  it('continues where a page ended, only for the same filters', async () => {
    const first = await get('/v1/deeds?limit=3');
    expect([seqsOf(first.json), first.json?.['has_more']]).toEqual([[1, 2, 3], true]);
    const cursor = String(first.json?.['next_cursor']);
    expect(seqsOf((await get(`/v1/deeds?limit=3&cursor=${cursor}`)).json)).toEqual([4]);
    const other = await get(`/v1/deeds?kind=admin&cursor=${cursor}`);
    expect([other.status, other.error['code'], other.error['param']]).toEqual([400, 'validation_failed', 'cursor']);
  });

  it.each([
    ['kind=admin', [1]],
    ['kind=action&order=desc', [4, 3, 2]],
    ['issued_at[gte]=2026-10-01T12:00:02Z', [3, 4]],
    ['seq[gte]=2&seq[lt]=4', [2, 3]],
    ['seq[gte]=0&seq[lt]=2', [1]],
    ['issued_at[gte]=2026-10-01T12:00:01Z&issued_at[lt]=2026-10-01T12:00:02Z', [2]],
  ])('narrows by %s', async (query, seqs) => {
    expect(seqsOf((await get(`/v1/deeds?${query}`)).json)).toEqual(seqs);
  });

  it.each([
    ['seq=1', 'seq'],
    ['kind=refusal', 'kind'],
    ['limit=0', 'limit'],
    ['limit=', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=AAAA', 'cursor'],
    ['issued_at[gte]=yesterday', 'issued_at[gte]'],
    ['order=up', 'order'],
    ['seq[gte]=-1', 'seq[gte]'],
    ['seq[lt]=1e3', 'seq[lt]'],
    ['seq[gt]=1', 'seq[gt]'],
  ])('refuses %s, param %s', async (query, param) => {
    const { status, error } = await get(`/v1/deeds?${query}`);
    expect([status, error['type'], error['code'], error['param']]).toEqual([
      400,
      'invalid_request_error',
      'validation_failed',
      param,
    ]);
  });

  it('needs the scope deeds:read', async () => {
    const { status, error, headers } = await get('/v1/deeds', 'reader');
    expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toContain('scope="deeds:read"');
  });

  it('says how far the rows are behind if the projection does not catch up', async () => {
    bench.progress.isHeldUp = true;
    const { status, headers } = await get('/v1/deeds');
    bench.progress.isHeldUp = false;
    expect([status, headers.get('service-projection-lag')]).toEqual([200, '1']);
  });
});

describe('GET /v1/deeds/{id}', () => {
  it('answers with the stored bytes, and with signature and key in headers', async () => {
    const { deed: id, body, body_hash, kid, signature } = deed(3);
    const { status, text, headers } = await get(`/v1/deeds/${id}`);
    expect([status, text, digestOf(text)]).toEqual([200, body, body_hash]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      etag: `"${body_hash}"`,
      vary: 'Accept',
      'cache-control': 'private, no-cache',
      'service-deed-seq': '3',
      'service-deed-kid': kid,
      'service-deed-signature': signature,
    });
  });

  it('answers Accept: application/cose with the COSE_Sign1 form of the same bytes, under a tag of its own', async () => {
    const { deed: id, body, body_hash, kid, cose_signature: coseSignature } = deed(3);
    const response = await fetch(`${bench.edge.url}/v1/deeds/${id}`, {
      headers: { ...bearer('admin'), Accept: 'application/cose' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/cose']);
    expect(response.headers.get('etag')).toBe(`"${body_hash}+cose"`);
    const form = decodeDeedCose(new Uint8Array(await response.arrayBuffer()));
    expect({ ...form, body: Buffer.from(form.body).toString() }).toEqual({ kid, body, coseSignature });
  });

  it.each([
    ['of another deed', () => ({ cose_signature: deed(4).cose_signature })],
    ['that is none', () => ({ cose_signature: 'A' })],
    ['under a key that nobody registered', () => ({ kid: '0'.repeat(32) })],
  ])('hands out no COSE form with a signature %s, and the bytes all the same', async (_, damage) => {
    const { deed: id, body } = deed(3);
    const { readStream } = bench.store;
    const damaged = vi.spyOn(bench.store, 'readStream').mockImplementation(async (stream, options) => {
      const events = await readStream.call(bench.store, stream, options);
      if (!stream.startsWith('ledger-')) return events;
      return events.map((event) => ({ ...event, data: JSON.stringify({ ...JSON.parse(event.data), ...damage() }) }));
    });
    const { status, error, headers } = await get(`/v1/deeds/${id}`, 'admin', { Accept: 'application/cose' });
    const plain = await get(`/v1/deeds/${id}`);
    damaged.mockRestore();
    expect([status, error['code'], headers.get('etag')]).toEqual([503, 'service_unavailable', null]);
    expect([plain.status, plain.text]).toEqual([200, body]);
  });

  it.each([
    ['altered bytes', (data: string) => data.replace('\\"seq\\":3', '\\"seq\\":4')],
    ['no bytes', (data: string) => JSON.stringify({ ...JSON.parse(data), body: null })],
    ['no JSON', () => '{'],
  ])('hands out no deed from a row with %s', async (_, damage) => {
    const { deed: id } = deed(3);
    const { readStream } = bench.store;
    const damaged = vi.spyOn(bench.store, 'readStream').mockImplementation(async (stream, options) => {
      const events = await readStream.call(bench.store, stream, options);
      return stream.startsWith('ledger-') ? events.map((event) => ({ ...event, data: damage(event.data) })) : events;
    });
    const answers = [
      await get(`/v1/deeds/${id}`),
      await get(`/v1/deeds/${id}`, 'admin', { Accept: 'application/cose' }),
    ];
    damaged.mockRestore();
    for (const { status, error, headers } of answers) {
      expect([status, error['code'], headers.get('etag')]).toEqual([503, 'service_unavailable', null]);
    }
  });

  it.each(['"TAG"', 'W/"TAG"', '"sha256:00", "TAG"', '*'])('answers If-None-Match: %s with 304', async (header) => {
    const { deed: id, body_hash } = deed(1);
    const known = { 'If-None-Match': header.replace('TAG', body_hash) };
    const { status, text, headers } = await get(`/v1/deeds/${id}`, 'admin', known);
    expect([status, text, headers.get('etag')]).toEqual([304, '', `"${body_hash}"`]);
  });

  it('sends the bytes if the client has another tag, such as that of the other form', async () => {
    const { deed: id, body_hash } = deed(1);
    expect((await get(`/v1/deeds/${id}`, 'admin', { 'If-None-Match': '"sha256:00"' })).status).toBe(200);
    const cose = { 'If-None-Match': `"${body_hash}"`, Accept: 'application/cose' };
    expect((await get(`/v1/deeds/${id}`, 'admin', cose)).status).toBe(200);
  });

  it('shows an agent the deeds of its own actions alone', async () => {
    const statuses = deeds.map(async ({ deed: id }) => (await get(`/v1/deeds/${id}`, 'agent')).status);
    expect(await Promise.all(statuses)).toEqual([404, 200, 404, 200]);
    expect((await get(`/v1/deeds/${deed(2).deed}`, 'stranger')).error['code']).toBe('not_found');
  });

  it('answers 404 for an id that no deed has', async () => {
    for (const id of [testId('deed', 7), testId('act', 7), 'deed_', 'export2']) {
      const { status, error } = await get(`/v1/deeds/${id}`);
      expect([status, error['code'], error['param']]).toEqual([404, 'not_found', null]);
    }
  });

  it('refuses a query', async () => {
    const { status, error } = await get(`/v1/deeds/${deed(1).deed}?form=cose`);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'form']);
  });
});

describe('GET /v1/deeds/export', () => {
  const pins = async () => {
    const { json } = await get('/.well-known/service/keys.json');
    return (json?.['keys'] as SealKeyEntry[]).map(fingerprintOf);
  };
  const exported = async (query = '', key = 'admin') => {
    const response = await fetch(`${bench.edge.url}/v1/deeds/export${query}`, { headers: bearer(key) });
    const bundle = Buffer.from(await response.arrayBuffer());
    const verdict = await verifyBundle([bundle] as unknown as AsyncIterable<Uint8Array>, {
      org: ORG,
      pins: await pins(),
    });
    return { response, verdict };
  };

  it('streams a bundle that verifies without the service', async () => {
    const { response, verdict } = await exported();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="deeds-${ORG}-1-4.tar.gz"`,
      'transfer-encoding': 'chunked',
    });
    expect(verdict).toMatchObject({ result: 'intact', deeds: 4, first_seq: 1, last_seq: 4 });
  });

  it.each([
    ['?from=2026-10-01T12:00:01Z', 'intact', 2, 4],
    ['?to=2026-10-01T12:00:02Z', 'intact', 1, 2],
    ['?from=2026-10-01T12:00:01.000Z&to=2026-10-01T12:00:03.000Z', 'intact', 2, 3],
    ['?from=2026-10-01T13:00:01%2B01:00&to=2026-10-01T12:00:01.001Z', 'intact', 2, 2],
  ])('takes the deeds issued within %s: from inclusive, to exclusive', async (query, result, first, last) => {
    const { verdict } = await exported(query);
    expect(verdict).toMatchObject({ result, first_seq: first, last_seq: last });
  });

  it('makes a bundle without deeds for a range that has none', async () => {
    const { response, verdict } = await exported('?from=2027-01-01T00:00:00Z');
    expect(response.headers.get('content-disposition')).toContain('-none.tar.gz');
    expect(verdict).toMatchObject({ result: 'incomplete', reason: 'no_deeds' });
  });

  it('has all deeds for an agent too, because a chain with holes proves nothing', async () => {
    expect((await exported('', 'agent')).verdict).toMatchObject({ result: 'intact', deeds: 4 });
    expect((await get('/v1/deeds/export', 'reader')).error['code']).toBe('insufficient_scope');
  });

  it('is cut without a regular end if the ledger can no longer be read, and the error is logged', async () => {
    const readStream = bench.store.readStream.bind(bench.store);
    let pages = 0;
    const failing = vi.spyOn(bench.store, 'readStream').mockImplementation(async (stream, options) => {
      if (options?.limit === 4 && (pages += 1) === 2) throw new StoreUnavailable('gone');
      return readStream(stream, options);
    });
    const response = await fetch(`${bench.edge.url}/v1/deeds/export`, { headers: bearer('admin') });
    await expect(response.arrayBuffer()).rejects.toThrow();
    failing.mockRestore();
    expect([response.status, pages]).toEqual([200, 2]);
    expect(bench.logger.errors).toEqual([expect.objectContaining({ message: 'gone' })]);
  });

  it('is refused with an error envelope if the ledger cannot be read at all', async () => {
    const failing = vi.spyOn(bench.store, 'heads').mockRejectedValue(new StoreUnavailable('gone'));
    const { status, error, headers } = await get('/v1/deeds/export');
    failing.mockRestore();
    expect([status, error['code'], headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
  });

  it('answers HEAD with the headers and reads no deed', async () => {
    const response = await fetch(`${bench.edge.url}/v1/deeds/export`, { method: 'HEAD', headers: bearer('admin') });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    expect(await response.text()).toBe('');
  });

  it.each([
    ['from=2026-10-01', 'from'],
    ['to=', 'to'],
    ['from=2026-10-01T12:00:00Z&to=2026-10-01T12:00:00Z', 'to'],
    ['from=9999-12-31T23:59:59-10:00', 'from'],
    ['kind=admin', 'kind'],
  ])('refuses %s, param %s', async (query, param) => {
    const { status, error } = await get(`/v1/deeds/export?${query}`);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });
});

describe('GET /v1/ledger/check', () => {
  const head = () => ({ seq: 4, body_hash: deed(4).body_hash });

  it('finds the stored chain intact', async () => {
    const { status, json } = await get('/v1/ledger/check');
    expect([status, json]).toEqual([
      200,
      {
        object: 'ledger_check',
        result: 'intact',
        reason: null,
        first_bad_seq: null,
        links_intact: true,
        checked: 4,
        first_seq: 1,
        last_seq: 4,
        head: head(),
        checked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });

  it.each([
    ['last=2', 3],
    ['last=10000', 1],
    ['from=2026-10-01T12:00:01Z', 2],
  ])('covers the deeds of %s', async (query, first) => {
    const { json } = await get(`/v1/ledger/check?${query}`, 'agent');
    expect(json).toMatchObject({ result: 'intact', checked: 5 - first, first_seq: first, last_seq: 4, head: head() });
  });

  it('finds an empty ledger intact', async () => {
    const nothing = { result: 'intact', checked: 0, first_seq: null, last_seq: null };
    expect((await get('/v1/ledger/check?from=2027-01-01T00:00:00Z')).json).toMatchObject({ ...nothing, head: head() });
    expect((await get('/v1/ledger/check', 'stranger')).json).toMatchObject({ ...nothing, head: null });
  });

  it.each([
    ['last=0', 'last'],
    ['last=10001', 'last'],
    ['from=now', 'from'],
    ['last=5&from=2026-10-01T12:00:01Z', 'from'],
    ['limit=5', 'limit'],
  ])('refuses %s, param %s', async (query, param) => {
    const { status, error } = await get(`/v1/ledger/check?${query}`);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });
});
