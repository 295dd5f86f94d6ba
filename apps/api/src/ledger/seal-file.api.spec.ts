import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalize, commitmentOf, digestOf } from '#libs/crypto';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

type Json = Record<string, unknown>;

let bench: ApiBench;

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.seal();
});
afterAll(() => bench.close());

const get = (path: string) => bench.get(path, bearer('admin'));

describe('POST /v1/deeds/files', () => {
  const file = { sha256: digestOf('report'), bytes: 6, media_type: 'application/pdf', label: 'Q3 report' };
  const post = (body: unknown, key = 'admin', headers: Record<string, string> = {}) =>
    bench.send('POST', '/v1/deeds/files', {
      headers: { ...bearer(key), 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  /** Posts, and runs a sealer over the log until the answer is there, because the answer waits for the deed. */
  const postSealed = async (...sent: Parameters<typeof post>) => {
    let answered = false;
    const answer = post(...sent).finally(() => (answered = true));
    while (!answered) await bench.seal();
    return answer;
  };

  it('answers 201 with the fields and the envelope of the sealed deed', async () => {
    const { status, json } = await postSealed(file);
    const { deed: envelope, ...fields } = json as Json & { deed: Json };
    expect([status, fields]).toEqual([201, { object: 'sealed_file', ...file }]);
    expect(envelope['about']).toEqual({ admin: 'file.sealed', target: { type: 'file', id: file.sha256 } });
    const query = `kind=admin&seq[gte]=${String(envelope['seq'])}`;
    expect((await get(`/v1/deeds?${query}`)).json?.['data']).toEqual([envelope]);
    const { text } = await get(`/v1/deeds/${String(envelope['id'])}`);
    const evidence = (await get(`/v1/deeds/${String(envelope['id'])}/evidence`)).json?.['data'] as [Json];
    expect(evidence).toMatchObject([{ member: 'admin.data_digest', value: file }]);
    expect(JSON.parse(text)).toMatchObject({
      kind: 'admin',
      who: { actor: { type: 'admin_key' } },
      admin: {
        action: 'file.sealed',
        reason: file.label,
        data_digest: commitmentOf(String(evidence[0]['salt']), canonicalize(file)),
      },
    });
  });

  it('seals once per Idempotency-Key, and the same file again under another key', async () => {
    const key = { 'Idempotency-Key': 'report' };
    const deedOf = ({ json }: { json: Json | null }) => (json?.['deed'] as Json)['id'];
    const first = await postSealed(file, 'admin', key);
    expect(deedOf(await post(file, 'admin', key))).toBe(deedOf(first));
    expect(deedOf(await postSealed(file))).not.toBe(deedOf(first));
  });

  it('accepts every media type and the longest label within 4 KiB', async () => {
    for (const type of ['application/pdf', 'text/markdown', 'application/json', 'text/plain', 'text/html']) {
      expect((await postSealed({ ...file, bytes: 0, media_type: type, label: '😀'.repeat(120) })).status).toBe(201);
    }
    expect((await post(JSON.stringify(file).padEnd(4_097))).error['code']).toBe('request_too_large');
  });

  it.each([
    [{ sha256: 'report' }, 'sha256'],
    [{ sha256: file.sha256.toUpperCase() }, 'sha256'],
    [{ sha256: undefined }, 'sha256'],
    [{ bytes: -1 }, 'bytes'],
    [{ bytes: 1.5 }, 'bytes'],
    [{ bytes: '6' }, 'bytes'],
    [{ media_type: 'image/png' }, 'media_type'],
    [{ label: '' }, 'label'],
    [{ label: 'two\nlines' }, 'label'],
    [{ label: 'x'.repeat(121) }, 'label'],
    [{ label: null }, 'label'],
    [{ file: 'report' }, 'file'],
  ])('refuses %j, param %s', async (changes, param) => {
    const head = await bench.store.head();
    const { status, error } = await post({ ...file, ...changes });
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
    expect(await bench.store.head()).toBe(head);
  });

  it('is not for agents', async () => {
    const { status, error } = await post(file, 'agent');
    expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
  });

  it('is sealed even if the client has gone before the answer', async () => {
    const controller = new AbortController();
    const headers = { ...bearer('admin'), 'Content-Type': 'application/json' };
    const head = await bench.store.head();
    const body = JSON.stringify({ ...file, label: 'Nobody waits' });
    const sent = { method: 'POST', headers, body, signal: controller.signal };
    const left = fetch(`${bench.edge.url}/v1/deeds/files`, sent).catch(() => null);
    while ((await bench.store.head()) === head);
    controller.abort();
    expect(await left).toBeNull();
    await bench.seal();
    const [newest] = (await get('/v1/deeds?kind=admin&order=desc&limit=1')).json?.['data'] as Json[];
    const { text } = await get(`/v1/deeds/${String(newest?.['id'])}`);
    expect(JSON.parse(text)).toMatchObject({ admin: { action: 'file.sealed', reason: 'Nobody waits' } });
  });
});
