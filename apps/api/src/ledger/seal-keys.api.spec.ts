import { afterAll, beforeAll, expect, it } from 'vitest';
import { digestOf, type SealKeyEntry } from '#libs/crypto';
import { SealKeyAdministration } from '#libs/domain/ledger';
import { PostgresEventStore } from '#libs/infra/event-store';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { metadataAt } from '../../../../test/support/given.js';
import { LedgerBench } from '../../../../test/support/ledger-fixtures.js';
import { LedgerModule } from './ledger.module.js';

const KEYS = '/.well-known/service/keys.json';

let bench: ApiBench;
/** The log as another process sees it, with connections and caches of its own. */
let elsewhere: PostgresEventStore;
let there: LedgerBench;

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  const { connectionString } = bench;
  elsewhere = new PostgresEventStore({
    connectionString,
    applicationName: 'ags tests',
    onConnectionLost: () => undefined,
  });
  there = new LedgerBench(elsewhere);
});
afterAll(async () => {
  await elsewhere.close();
  await bench.close();
});

const revoke = (kid: string) =>
  new SealKeyAdministration(there.runner, there.streams, there.keys).revoke(kid, null, {
    ...metadataAt(),
    org: null,
    commandId: `revoke ${kid}`,
  });

const listed = async (): Promise<SealKeyEntry[]> => (await bench.get(KEYS)).json?.['keys'] as SealKeyEntry[];

it('a change of the seal keys shows at once, whichever process made it, and changes the tag of the key set', async () => {
  const { kid: old } = (await there.activateKey()).publicKey;
  expect(await listed()).toMatchObject([{ kid: old, retired_at: null, revoked_at: null }]);
  const first = await bench.get(KEYS);
  const tag = first.headers.get('etag') ?? '';
  expect(tag).toBe(`"${digestOf(first.text)}"`);
  expect(first.headers.get('cache-control')).toBe('public, max-age=300');
  expect((await bench.get(KEYS, { 'If-None-Match': tag })).status).toBe(304);

  const { kid: next } = (await there.activateKey()).publicKey;
  expect(await listed()).toMatchObject([{ kid: old, retired_at: expect.any(String) as string }, { kid: next }]);
  const rotated = await bench.get(KEYS, { 'If-None-Match': tag });
  expect(rotated.status).toBe(200);
  expect(rotated.headers.get('etag')).not.toBe(tag);

  await revoke(old);
  expect(await listed()).toMatchObject([{ kid: old, revoked_at: expect.any(String) as string }, { revoked_at: null }]);
});
