import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeEvent, START, StoreUnavailable } from '#libs/domain/kernel';
import type { ExportEvent } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

const PATH = '/v1/deeds/export';

let bench: ApiBench;

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.seal();
});
afterAll(() => bench.close());

const recorded = async () =>
  (await bench.store.readAll(START, 1_000))
    .filter(({ stream }) => stream.startsWith('export-'))
    .map((event) => decodeEvent<ExportEvent>(event));
const ask = async (query = '', key = 'admin', method = 'GET') => {
  const response = await fetch(`${bench.edge.url}${PATH}${query}`, { method, headers: bearer(key) });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
};

describe('an export of deeds', () => {
  it('is in the log before its first byte goes out, with its actor and its range', async () => {
    const before = (await recorded()).length;
    expect((await ask('?from=2026-10-01T00:00:00Z')).status).toBe(200);
    expect((await ask('?from=2027-01-01T00:00:00Z', 'agent')).status).toBe(200);
    const [whole, none] = (await recorded()).slice(before);
    expect(whole?.event.data).toMatchObject({
      org: ORG,
      kind: 'deeds',
      from: '2026-10-01T00:00:00.000Z',
      to: null,
      first_seq: 1,
      last_seq: 1,
    });
    expect(whole?.metadata).toMatchObject({ org: ORG, actor: { type: 'admin_key' } });
    expect(none?.event.data).toMatchObject({ first_seq: null, last_seq: null });
    expect(none?.metadata).toMatchObject({ actor: { type: 'agent', id: AGENT } });
  });

  it('does not begin if it cannot be recorded', async () => {
    const failing = vi.spyOn(bench.store, 'append').mockRejectedValue(new StoreUnavailable('gone'));
    const { status, json, headers } = await bench.get(PATH, bearer('admin'));
    failing.mockRestore();
    expect([status, (json?.['error'] as Record<string, unknown>)['code']]).toEqual([503, 'service_unavailable']);
    expect([headers.get('retry-after'), headers.get('content-disposition')]).toEqual(['1', null]);
  });

  it('is not recorded if no bundle goes out: for HEAD, and for a refused range', async () => {
    const before = (await recorded()).length;
    expect((await ask('', 'admin', 'HEAD')).status).toBe(200);
    expect((await ask('?from=yesterday')).status).toBe(400);
    expect((await ask('', 'reader')).status).toBe(403);
    expect(await recorded()).toHaveLength(before);
  });
});
