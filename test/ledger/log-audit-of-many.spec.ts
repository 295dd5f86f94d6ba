import { beforeAll, describe, expect, it } from 'vitest';
import { eventIdOf, type OrgId, type RecordedEvent } from '#libs/domain/kernel';
import { LogAudit, type AuditVerdict } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { after } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

const org = newOrg();
const other = newOrg();

describe('an audit that keeps fewer actions in memory than are under way', () => {
  /** The beginnings of all actions, one after the other; then the ends of all; then their deeds. */
  let events: readonly RecordedEvent[];

  beforeAll(async () => {
    const bench = new LedgerBench(new MemoryEventStore());
    await bench.activateKey();
    for (const each of [org, other, org, other]) await bench.recordAction(each, 'executed');
    await bench.feed(bench.sealer(), await bench.log());
    const written = await bench.log();
    const isEnd = ({ type }: RecordedEvent): boolean => type === 'ExecutionFinished' || type === 'ActionWitnessed';
    const isDeed = ({ type }: RecordedEvent): boolean => type === 'DeedSealed';
    events = [
      ...written.filter((event) => !isEnd(event) && !isDeed(event)),
      ...written.filter(isEnd),
      ...written.filter(isDeed),
    ];
  });

  /** Runs an audit as the command does, and counts how often a stream was read again. */
  const auditWith = (inFlightMax: number, given = events, only: OrgId | null = null): [AuditVerdict, number] => {
    const running = new LogAudit(only, () => true, inFlightMax);
    let recalled = 0;
    for (const event of given) {
      if (running.mustRecall(event)) {
        running.recall(given.filter(({ stream, revision }) => stream === event.stream && revision < event.revision));
        recalled += 1;
      }
      running.step(event);
    }
    return [running.verdict(), recalled];
  };

  it.each([
    [4, 0],
    [3, 2],
    [1, 4],
  ])('%i: comes to the same verdict, having read streams again: %i', (inFlightMax, recalled) => {
    const [verdict, read] = auditWith(inFlightMax);
    expect(verdict).toMatchObject({ deeds: 4, unsealed: 0, faultCount: 0, faults: [] });
    expect(read).toBe(recalled);
  });

  it('finds an event that was added to an action that is over', () => {
    const added = events.findLast(({ type }) => type === 'ExecutionStarted') as RecordedEvent;
    const { revision } = events.findLast(({ stream }) => stream === added.stream) as RecordedEvent;
    const event = { ...added, revision: revision + 1 };
    const [{ faults }] = auditWith(1, [...events, { ...event, id: eventIdOf(event) }]);
    expect(faults.map(({ code }) => code)).toEqual(['event_unexpected']);
  });

  it('finds a rewritten outcome whose id was made to fit', () => {
    const index = events.findIndex(({ type }) => type === 'ExecutionFinished');
    const { data } = events[index] as RecordedEvent;
    const event = { ...(events[index] as RecordedEvent), data: data.replace(after(20), after(21)) };
    const [{ faults }] = auditWith(1, events.with(index, { ...event, id: eventIdOf(event) }));
    expect(faults.map(({ code }) => code)).toContain('deed_differs');
  });

  it('reads no stream of an organization that it does not compare', () => {
    const [verdict, read] = auditWith(1, events, other);
    expect(verdict).toMatchObject({ deeds: 2, unsealed: 0, faultCount: 0 });
    expect(read).toBe(2);
  });
});
