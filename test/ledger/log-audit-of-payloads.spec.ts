import { beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { PayloadFault } from '#libs/domain/gate';
import { eventIdOf, idInStream, type OrgId, type RecordedEvent } from '#libs/domain/kernel';
import { LogAudit, type AuditedPayload, type AuditVerdict } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

const org = newOrg();
const other = newOrg();
let log: readonly RecordedEvent[];

/** Records an action that ran and gave a result, one that was refused, and one of another organization. */
beforeAll(async () => {
  const bench = new LedgerBench(new MemoryEventStore());
  await bench.activateKey();
  const result = digestOf('{"done":true}');
  const ran = await bench.recordAction(org, 'executed');
  await bench.recordAction(org);
  await bench.recordAction(other);
  const written = await bench.log();
  const end = written.findIndex(({ stream, type }) => stream === ran && type === 'ExecutionFinished');
  log = withData(written, end, { result_digest: result });
});

const withData = (events: readonly RecordedEvent[], index: number, members: object): readonly RecordedEvent[] => {
  const event = events[index]!;
  const changed = { ...event, data: JSON.stringify({ ...(JSON.parse(event.data) as object), ...members }) };
  return events.with(index, { ...changed, id: eventIdOf(changed) });
};

const auditOf = (
  events: readonly RecordedEvent[],
  judge: (payload: AuditedPayload) => PayloadFault | null = () => null,
  only: OrgId | null = null,
): { readonly verdict: AuditVerdict; readonly payloads: readonly AuditedPayload[] } => {
  const running = new LogAudit(only);
  const payloads: AuditedPayload[] = [];
  for (const event of events) {
    running.step(event);
    const named = running.takeNamed();
    running.compared(named, named.map(judge));
    payloads.push(...named);
  }
  return { verdict: running.verdict(), payloads };
};

describe('an audit of the payloads that events name', () => {
  it('asks for each once, with the event that names it', () => {
    const { verdict, payloads } = auditOf(log);
    const [ran, refused, foreign] = [...new Set(log.map(({ stream }) => stream))].filter((one) =>
      one.startsWith('act'),
    );
    const input = digestOf('fixture');
    const of = (stream: string, kind: string, digest: string, revision: number, whose = org) => ({
      named: { owner: idInStream(stream), kind, digest },
      place: { org: whose, stream, revision },
    });
    expect(payloads).toEqual([
      of(ran!, 'policy_input', input, 0),
      of(ran!, 'result', digestOf('{"done":true}'), 4),
      of(refused!, 'policy_input', input, 0),
      of(foreign!, 'policy_input', input, 0, other),
    ]);
    expect(verdict).toMatchObject({ payloads: 4, faultCount: 0 });
  });

  it('asks only for those of one organization if it is limited to that', () => {
    expect(auditOf(log, undefined, other).verdict).toMatchObject({ payloads: 1, faultCount: 0 });
  });

  it.each(['missing', 'differs'] as const)('names the event whose payload %s', (fault) => {
    const { verdict, payloads } = auditOf(log, ({ named }) => (named.kind === 'result' ? fault : null));
    const { place } = payloads.find(({ named }) => named.kind === 'result')!;
    const digest = digestOf('{"done":true}');
    expect(verdict).toMatchObject({
      faultCount: 1,
      faults: [{ code: `payload_${fault}`, ...place, kind: 'result', digest }],
    });
  });

  it.each([{}, 7, '', 'sha256:', 'sha256:\0', digestOf('x').toUpperCase()])(
    'does not look up a payload under %j, which is no digest',
    (digest) => {
      const { verdict, payloads } = auditOf(withData(log, log.findIndex(isSubmission), { input_digest: digest }));
      expect(payloads).toHaveLength(3);
      expect(verdict.faults).toContainEqual(
        expect.objectContaining({ code: 'payload_missing', revision: 0, kind: 'policy_input', digest: null }),
      );
    },
  );

  it('does not look up a payload that belongs to no action', () => {
    const event = { ...log.find(isSubmission)!, stream: 'action-\0' };
    const { verdict, payloads } = auditOf([...log, { ...event, id: eventIdOf(event) }]);
    expect(payloads).toHaveLength(4);
    expect(verdict.faults.map(({ code, kind, digest }) => [code, kind, digest])).toEqual([
      ['event_unexpected', null, null],
      ['payload_missing', 'policy_input', digestOf('fixture')],
    ]);
  });
});

describe('an audit of payloads that are not stored', () => {
  let sealed: readonly RecordedEvent[];
  let actions: readonly string[];

  /** Records three actions, each with its deed, at revisions 0 to 2; then one that waits for its deed. */
  beforeAll(async () => {
    const bench = new LedgerBench(new MemoryEventStore());
    await bench.activateKey();
    const streams: string[] = [];
    for (let number = 1; number <= 4; number += 1) {
      streams.push(await bench.recordAction(org));
      if (number <= 3) await bench.feed(bench.sealer(), await bench.log());
    }
    sealed = await bench.log();
    actions = streams;
  });

  /** @param pageEvents how many events are stepped before payloads are compared */
  const auditUpTo = (passed: number | null, pageEvents: number, foreign = false) => {
    const running = new LogAudit();
    for (let from = 0; from < sealed.length; from += pageEvents) {
      for (const event of sealed.slice(from, from + pageEvents)) running.step(event);
      const named = running.takeNamed();
      if (passed !== null) running.retentionPassed(foreign ? other : org, passed);
      running.compared(
        named,
        named.map(() => 'missing' as const),
      );
    }
    const { faults, faultCount, payloads, payloadsRemoved } = running.verdict();
    expect([faultCount, payloads]).toEqual([faults.length, 4]);
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(faults.length === 0 ? [] : ['payload_missing']));
    return [faults.map(({ stream }) => actions.indexOf(stream)), payloadsRemoved];
  };

  it.each([1, 2, 3, 4, 5, 7, 1_000])('are faults unless retention has passed their deed: pages of %i', (page) => {
    expect(auditUpTo(null, page)).toEqual([[0, 1, 2, 3], 0]);
    expect(auditUpTo(0, page)).toEqual([[1, 2, 3], 1]);
    expect(auditUpTo(1, page)).toEqual([[2, 3], 2]);
    expect(auditUpTo(2, page)).toEqual([[3], 3]);
    // A cursor beyond the end of the ledger has not passed an action without a deed.
    expect(auditUpTo(700, page)).toEqual([[3], 3]);
    expect(auditUpTo(2, page, true)).toEqual([[0, 1, 2, 3], 0]);
  });

  it('are faults if the stored payload differs, whatever retention has passed', () => {
    const running = new LogAudit();
    for (const event of sealed) running.step(event);
    const named = running.takeNamed();
    running.retentionPassed(org, 2);
    running.compared(
      named,
      named.map(() => 'differs' as const),
    );
    expect(running.verdict()).toMatchObject({ faultCount: 4, payloadsRemoved: 0 });
  });
});

const isSubmission = ({ type }: RecordedEvent): boolean => type === 'ActionSubmitted';
