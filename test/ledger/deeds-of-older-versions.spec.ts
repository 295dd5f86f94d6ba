import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOfJson, parseDeedBody, type DeedBody } from '#libs/crypto';
import { decodeEvent } from '#libs/domain/kernel';
import { LogAudit, type AuditVerdict, type LedgerEvent } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench } from '../support/gate-bench.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];
const ARGS = { name: 'Ada' };

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

const audited = async (bench: LedgerBench): Promise<AuditVerdict> => {
  const audit = new LogAudit(null, (end, position) => bench.store.isNext(end, position));
  for (const event of await bench.log()) audit.step(event);
  return audit.verdict();
};
const bodies = async (bench: LedgerBench, org: ReturnType<typeof newOrg>): Promise<readonly DeedBody[]> =>
  (await bench.ledgerOf(org)).map((event) =>
    parseDeedBody(Buffer.from(decodeEvent<LedgerEvent>(event).event.data.body)),
  );

describe('events of a version without salts', () => {
  it('are sealed with plain digests, in the format that says so', async () => {
    const bench = new LedgerBench(new MemoryEventStore());
    const org = newOrg();
    await bench.activateKey();
    await bench.recordAction(org, 'executed');
    await bench.recordAction(org, 'refused');
    await bench.feed(bench.sealer(), await bench.log());
    expect((await bodies(bench, org)).map(({ v }) => v)).toEqual(['service.deed/1', 'service.deed/1']);
    expect(await audited(bench)).toMatchObject({ deeds: 2, faults: [] });
  });
});

describe('a process of a version without salts, while a fleet is upgraded', () => {
  let bench: GateBench;
  let ledger: LedgerBench;
  beforeEach(async () => {
    bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
    ledger = new LedgerBench(bench.store);
    await ledger.activateKey();
    const { action } = await bench.submit({ tool: 'crm.update', args: ARGS });
    await bench.action(action, ({ state }) => state === 'recorded');
  });
  afterEach(() => bench.close());

  it('seals what has salts with plain digests, and an audit makes the same', async () => {
    const sealer = ledger.sealer();
    for (const [org, { requests }] of await sealer.workIn(await ledger.log())) {
      const older = requests.map((request) => ({ ...request, sections: request.firstSections() }));
      await sealer.seal(org, older);
    }
    const deeds = await bodies(ledger, bench.org);
    expect(new Set(deeds.map(({ v }) => v))).toEqual(new Set(['service.deed/1']));
    expect(deeds.at(-1)?.action?.args_digest).toBe(digestOfJson(ARGS));
    expect(await audited(ledger)).toMatchObject({ deeds: deeds.length, unsealed: 0, faults: [] });
  });

  it('is followed by deeds of the newest format in the same chain', async () => {
    const sealer = ledger.sealer();
    const requests = (await sealer.workIn(await ledger.log())).get(bench.org)?.requests ?? [];
    const [first, ...others] = requests;
    if (first === undefined) throw new Error('nothing asks for a deed');
    await sealer.seal(bench.org, [{ ...first, sections: first.firstSections() }]);
    await sealer.seal(bench.org, others);
    const versions = (await bodies(ledger, bench.org)).map(({ v }) => v);
    expect(versions).toEqual(['service.deed/1', ...others.map(() => 'service.deed/2')]);
    expect(await audited(ledger)).toMatchObject({ deeds: versions.length, unsealed: 0, faults: [] });
  });
});
