import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fingerprintOf, readBundle, type SealKeyEntry, verifyBundle } from '#libs/crypto';
import { decodeEvent, START, StoreUnavailable } from '#libs/domain/kernel';
import type { EvidenceExportEvent, LedgerEvent } from '#libs/domain/ledger';

import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

const PATH = '/v1/deeds/export';

let bench: ApiBench;

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.ledger.recordAction(ORG, 'executed', AGENT);
  await bench.seal();
});
afterAll(() => bench.close());
afterEach(() => void vi.restoreAllMocks());

const recorded = async () =>
  (await bench.store.readAll(START, 1_000))
    .filter(({ stream }) => stream.startsWith('evidence-'))
    .map((event) => decodeEvent<EvidenceExportEvent>(event));

const exported = async (query: string): Promise<Buffer> => {
  const response = await fetch(`${bench.edge.url}${PATH}${query}`, { headers: bearer('admin') });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

const verdictOn = async (bytes: Buffer) => {
  const { json } = await bench.get('/.well-known/service/keys.json');
  const pins = (json?.['keys'] as SealKeyEntry[]).map(fingerprintOf);
  return verifyBundle(Readable.from([bytes]), { org: ORG, pins });
};

const formatOf = async (bytes: Buffer): Promise<string> => {
  for await (const part of readBundle(Readable.from([bytes]))) if (part.part === 'manifest') return part.manifest.v;
  throw new Error('no manifest');
};

describe('HEAD /v1/deeds/export', () => {
  const checkpoints = async (): Promise<number> =>
    (await bench.store.readAll(START, 1_000)).filter(({ stream }) => stream.startsWith('checkpoints-')).length;

  it('signs no checkpoint and seals nothing, also for an admin: nobody reads of it', async () => {
    const path = `${bench.edge.url}${PATH}?format=service.bundle/2`;
    const { status, headers } = await fetch(path, { method: 'HEAD', headers: bearer('admin') });
    expect([status, headers.get('content-disposition')]).toEqual([200, expect.stringContaining('deeds-org_')]);
    expect(await checkpoints()).toBe(0);
    await exported('?format=service.bundle/2');
    expect(await checkpoints()).toBe(2);
  });
});

describe('GET /v1/deeds/export?evidence=true', () => {
  it('gives what each deed stands for, and says what it has not', async () => {
    const bytes = await exported('?evidence=true');
    expect(await formatOf(bytes)).toBe('service.bundle/2');
    const { result, evidence } = await verdictOn(bytes);
    expect(result).toBe('intact');
    expect(evidence?.given).toBeGreaterThan(0);
    // This action was never submitted, so nothing of it was stored.
    expect(evidence?.missing).toBeGreaterThan(0);
  });

  it('is sealed: what was exported, and by whom', async () => {
    await exported('?evidence=true&from=2026-10-01T00:00:00Z');
    expect((await recorded()).at(-1)?.event.data).toMatchObject({
      ...{ org: ORG, format: 'service.bundle/2', from: '2026-10-01T00:00:00.000Z', to: null },
      ...{ first_seq: 1, last_seq: expect.any(Number) as unknown },
    });
    await bench.seal();
    const deeds = (await bench.ledger.ledgerOf(ORG)).map((event) => decodeEvent<LedgerEvent>(event).event.data.body);
    const { admin, who } = JSON.parse(deeds.at(-1) ?? '') as Record<string, Record<string, unknown>>;
    expect([admin?.['action'], admin?.['target'], (who?.['actor'] as Record<string, unknown>)['type']]).toEqual([
      'evidence.exported',
      { type: 'org', id: ORG },
      'admin_key',
    ]);
  });

  it('is not sealed where there is no deed, so that nothing left', async () => {
    const before = (await recorded()).length;
    await exported('?evidence=true&to=2020-01-01T00:00:00Z');
    expect(await recorded()).toHaveLength(before);
  });

  it('does not begin if it cannot be recorded', async () => {
    const append = bench.store.append.bind(bench.store);
    vi.spyOn(bench.store, 'append').mockImplementation((...request: Parameters<typeof append>) =>
      JSON.stringify(request[0]).includes('EvidenceExported')
        ? Promise.reject(new StoreUnavailable('gone'))
        : append(...request),
    );
    const { status, error, headers } = await bench.get(`${PATH}?evidence=true`, bearer('admin'));
    expect([status, error['code'], headers.get('content-disposition')]).toEqual([503, 'service_unavailable', null]);
  });

  it('is for admins: no key of an agent may', async () => {
    const before = (await recorded()).length;
    const { status, error } = await bench.get(`${PATH}?evidence=true`, bearer('agent'));
    expect([status, error['code'], error['message']]).toEqual([
      403,
      'insufficient_scope',
      expect.stringContaining('Leave out evidence'),
    ]);
    expect(await recorded()).toHaveLength(before);
  });
});

describe('the format of an export', () => {
  it.each([
    ['', 'service.bundle/1'],
    ['?evidence=false', 'service.bundle/1'],
    ['?format=service.bundle/1', 'service.bundle/1'],
    ['?format=service.bundle/2', 'service.bundle/2'],
    ['?format=service.bundle/2&evidence=true', 'service.bundle/2'],
  ])('of %j is %s', async (query, format) => {
    const bytes = await exported(query);
    expect([await formatOf(bytes), (await verdictOn(bytes)).result]).toEqual([format, 'intact']);
  });

  it.each([
    ['format=service.bundle/3', 'format'],
    ['format=', 'format'],
    ['evidence=yes', 'evidence'],
    ['evidence=true&format=service.bundle/1', 'format'],
  ])('%s is refused, param %s', async (query, param) => {
    const { status, error } = await bench.get(`${PATH}?${query}`, bearer('admin'));
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });
});
