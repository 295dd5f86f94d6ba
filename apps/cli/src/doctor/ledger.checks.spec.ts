import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sealedHeadsPath } from '#libs/infra/ledger';
import type { Examination } from './examination.js';
import { checkLedgerChain } from './ledger.checks.js';
import type { Finding } from './finding.js';

const HASH = `sha256:${'0'.repeat(64)}`;
const orgOf = (number: number): string => `org_${String(number).padStart(26, '0')}`;

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'ags-heads-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

/** A folder that remembers so many ledgers, of which the store takes a while to tell; its service finds nothing wrong. */
const check = async (ledgers: number, millisecondsEach: number): Promise<{ finding: Finding; asked: number }> => {
  let asked = 0;
  const lines = Array.from({ length: ledgers }, (_, number) => `${orgOf(number)} 1:${HASH}`.padEnd(127).concat('\n'));
  await writeFile(sealedHeadsPath(stateDir), lines.join(''));
  const body_hash = HASH;
  const store = {
    heads: async (streams: readonly string[]) => {
      asked += streams.length;
      await delay(millisecondsEach);
      return new Map(streams.map((stream) => [stream, 0]));
    },
    readStream: (stream: string) => {
      const data = { seq: 1, body_hash, issued_at: '2026-11-25T00:00:00.000Z' };
      const of = { stream, revision: 0, position: 1n, id: '', type: 'DeedSealed' };
      const metadata = JSON.stringify({ schema: 1, source: { stream: 'action-x', revision: 0 } });
      return Promise.resolve([{ ...of, data: JSON.stringify(data), metadata }]);
    },
  };
  const said = { object: 'ledger_check', result: 'intact', reason: null, first_bad_seq: null, checked: 7 };
  const examination = {
    config: { stateDir },
    apiKey: 'a key',
    server: { isOurs: true, get: () => Promise.resolve({ status: 200, body: said }) },
    database: () => Promise.resolve({ store }),
  };
  return { finding: await checkLedgerChain(examination as unknown as Examination), asked };
};

describe('the check of the ledgers', () => {
  it('warns where there was no time for all of many heads, and calls it no problem', async () => {
    const { finding, asked } = await check(2_000, 50);
    expect(finding).toMatchObject({ status: 'warning' });
    expect(asked).toBeLessThan(1_000);
  });

  it('asks for all of them where there is', async () => {
    expect(await check(100, 1)).toMatchObject({ finding: { status: 'ok' }, asked: 100 });
  });
});
