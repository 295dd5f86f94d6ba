import { describe, expect, it } from 'vitest';
import { Gatherer, type LiveEvent, readEvent, stageOf, Throttle } from './live-events.ts';

const event = (id: string): LiveEvent => ({ id, type: 'action.created', org: 'org_1', hydrated: true, object: {} });

describe('an event of the stream', () => {
  it('is read as the API writes it', () => {
    const text = JSON.stringify({
      object: 'event',
      id: 'evt_1',
      type: 'action.created',
      org: 'org_1',
      data: { object: { object: 'action', id: 'act_1', state: 'executing' } },
      hydrated: true,
    });
    expect(readEvent(text)).toEqual({
      id: 'evt_1',
      type: 'action.created',
      org: 'org_1',
      hydrated: true,
      object: { object: 'action', id: 'act_1', state: 'executing' },
    });
  });

  it.each(['', '{', 'null', '[]', '{}', '{"id":"e","type":"t","org":"o","data":{"object":null}}'])(
    'is null for %j',
    (text) => expect(readEvent(text)).toBeNull(),
  );
});

describe('events', () => {
  it('are collected and passed on once each, in order', () => {
    const told: string[][] = [];
    const timers: (() => void)[] = [];
    const gatherer = new Gatherer(
      (events) => told.push(events.map(({ id }) => id)),
      (work) => timers.push(work),
    );
    for (const id of ['a', 'b', 'a']) gatherer.add(event(id));
    expect([told, timers.length]).toEqual([[], 1]);
    timers.pop()?.();
    for (const id of ['b', 'c']) gatherer.add(event(id));
    timers.pop()?.();
    expect(told).toEqual([['a', 'b'], ['c']]);
  });

  it('have stages that rise with the state', () => {
    const action = (state: string) => stageOf({ object: 'action', state });
    const stages = ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'].map(action);
    expect(stages).toEqual(stages.toSorted((one, other) => one - other));
    const approval = (status: string, countersigned: number) => stageOf({ object: 'approval', status, countersigned });
    expect(approval('pending', 1)).toBeGreaterThan(approval('pending', 0));
    expect(approval('denied', 0)).toBeGreaterThan(approval('pending', 3));
  });
});

describe('a throttle', () => {
  it('calls at once, then once per interval, and for the last wish too', () => {
    let [now, count] = [0, 0];
    const timers: (readonly [() => void, number])[] = [];
    const throttle = new Throttle(
      () => (count += 1),
      2_000,
      () => now,
      (work, ms) => timers.push([work, ms]),
    );
    throttle.want();
    now = 500;
    throttle.want();
    throttle.want();
    expect([count, timers.map(([, ms]) => ms)]).toEqual([1, [1_500]]);
    now = 2_000;
    timers.pop()?.[0]();
    expect(count).toBe(2);
    now = 4_000;
    throttle.want();
    expect([count, timers.length]).toEqual([3, 0]);
  });
});
