import { expect, it } from 'vitest';
import { parseDeedBody } from '#libs/crypto';
import { actionDecider, type ActionEvent } from '#libs/domain/gate';
import { decodeEvent } from '#libs/domain/kernel';
import { LogAudit, type LedgerEvent } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ACTION, finished, running, succeeded } from '../support/gate-fixtures.js';
import { after, metadataAt } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

const unknown = { ...succeeded, status: 'unknown' as const, error_code: 'timeout', result_digest: null };
const waiting = { ...finished(unknown, 'c1') } as Extract<ActionEvent, { type: 'ExecutionFinished' }>;
const late: ActionEvent = {
  type: 'LateReport',
  data: { ...succeeded, action: ACTION, attempt: 1, claim: 'c1', at: after(5) },
};
const unread = [...running, { ...waiting, data: { ...waiting.data, read_back: { reason: null } } }, late];

it('a witness that says less than an earlier late report, and its amendment, have a deed each', async () => {
  const bench = new LedgerBench(new MemoryEventStore());
  const org = newOrg();
  await bench.activateKey();
  const state = unread.reduce(actionDecider.evolve, actionDecider.initialState());
  const data = { verdict: 'UNVERIFIABLE' as const, reasons: ['timeout'], evidenceDigest: null };
  const read = actionDecider.decide({ type: 'RecordReadBack', data, metadata: metadataAt(after(10)) }, state);
  const { stream } = await bench.record(org, [...unread, ...read]);
  await bench.feed(bench.sealer(), await bench.log());

  const deeds = (await bench.ledgerOf(org)).map((recorded) =>
    parseDeedBody(Buffer.from(decodeEvent<LedgerEvent>(recorded).event.data.body)),
  );
  expect(deeds.map(({ kind, witness }) => [kind, witness?.level, witness?.verdict, witness?.reasons])).toEqual([
    ['action', 'L1', 'UNVERIFIABLE', ['timeout']],
    ['amendment', 'L0', 'VERIFIED', ['late_report']],
  ]);

  const audit = new LogAudit(org, (end, position) => bench.store.isNext(end, position));
  for (const event of await bench.log()) {
    if (audit.mustRecall(event)) {
      audit.recall((await bench.store.readStream(stream)).filter(({ revision }) => revision < event.revision));
    }
    audit.step(event);
  }
  expect(audit.verdict()).toMatchObject({ deeds: 2, unsealed: 0, faults: [] });
});
