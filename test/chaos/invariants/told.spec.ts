import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PUBLIC_EVENT_TYPES, publicIdOf } from '#libs/domain/events';
import type { Arrival, LoggedEvent, Told } from '../evidence.js';
import { event, saidOf } from './given.js';
import { TOLD_TYPES } from './told.js';

const SECRET = 'whsec_test';
const HOOK = 'whk_1';
const recorded = (id: string, position: number, stream: string, type: string): LoggedEvent => ({
  ...event(stream, type, type === 'WebhookCreated' ? { webhook: HOOK } : {}),
  id,
  position,
});
const EVENTS = [
  recorded('e1', 1, 'action-act_1', 'ActionSubmitted'),
  recorded('e2', 2, 'webhooks-org_1', 'WebhookCreated'),
  recorded('e3', 3, 'action-act_1', 'ActionDecided'),
  recorded('e4', 4, 'action-act_1', 'LateReport'),
  recorded('e5', 5, 'action-act_2', 'SubmissionAbandoned'),
  recorded('e6', 6, 'org-org_1', 'PolicyActivated'),
];
const [SUBMITTED, DECIDED, ACTIVATED] = [publicIdOf('e1'), publicIdOf('e3'), publicIdOf('e6')];

const signed = (body: string): string =>
  `t=7,v1=${'0'.repeat(64)},v1=${createHmac('sha256', SECRET).update(`7.${body}`).digest('hex')}`;
const arrival = (id: string, changes: Partial<Arrival> = {}): Arrival => {
  const body = JSON.stringify({ id });
  const signature = signed(changes.body ?? body);
  return { path: '/steady', webhook: HOOK, event: id, signature, body, isUnderFault: false, answered: 204, ...changes };
};
const ALL = [arrival(DECIDED), arrival(ACTIVATED)];
const told = (changes: Partial<Told>): { events: readonly LoggedEvent[]; told: Told } => ({
  events: EVENTS,
  told: { webhooks: [{ id: HOOK, secret: SECRET }], arrivals: ALL, streams: [], ...changes },
});

it('a run of kills knows every type that the service sends', () => {
  const sent = PUBLIC_EVENT_TYPES.filter((type) => !/^(?:anomaly|suggestion|webhook)\./.test(type));
  expect([...new Set(Object.values(TOLD_TYPES))].sort()).toEqual([...sent].sort());
});

describe('INV-08', () => {
  const said = (...stream: readonly string[]): readonly string[] => saidOf('INV-08', told({ streams: [stream] }));

  it('holds for a stream that begins and ends anywhere', () => {
    expect(said(SUBMITTED, DECIDED, ACTIVATED)).toEqual([]);
    expect(said(DECIDED)).toEqual([]);
  });

  it('is broken by a gap, a repeat, another order, and what the log does not tell', () => {
    expect(said(SUBMITTED, ACTIVATED)).toEqual([
      `stream 1 told ${ACTIVATED} in place 2, where the log has action.decided ${DECIDED}`,
    ]);
    expect(said(DECIDED, DECIDED)).toHaveLength(1);
    expect(said(DECIDED, SUBMITTED)).toHaveLength(1);
    expect(said('evt_none')).toEqual([
      `stream 1 told evt_none in place 1, where the log has action.created ${SUBMITTED}`,
    ]);
    expect(said(ACTIVATED, publicIdOf('e4'))).toEqual([
      `stream 1 told ${publicIdOf('e4')} in place 2, where the log has nothing`,
    ]);
  });
});

describe('lists of tools', () => {
  const tool = (name: string, definition: string) => ({ name, definition });
  const list = (id: string, connector: string, tools: readonly object[], accepted: readonly string[] = []) => ({
    ...recorded(id, Number(id.slice(1)), 'connector-org_1-srv', 'ConnectorToolsRecorded'),
    data: { connector, tools, accepted },
  });
  const events = [
    list('e1', 'con_1', [tool('a', '1'), tool('b', '1')], ['a', 'b']),
    list('e2', 'con_1', [tool('b', '1'), tool('a', '1')]),
    list('e3', 'con_1', [tool('a', '1'), tool('b', '2')]),
    list('e4', 'con_1', [tool('a', '1'), tool('b', '2')], ['b']),
    list('e5', 'con_2', [tool('a', '2')], ['a']),
    recorded('e6', 6, 'connector-org_1-srv', 'ConnectorToolsAccepted'),
  ];

  it('are told where they change what can be called, and never the first of a connector', () => {
    const heard = ['e3', 'e4', 'e6'].map(publicIdOf);
    const streams = [heard];
    expect(saidOf('INV-08', { events, told: { webhooks: [], arrivals: [], streams } })).toEqual([]);
    const wrong = [['e1', 'e3'].map(publicIdOf)];
    expect(saidOf('INV-08', { events, told: { webhooks: [], arrivals: [], streams: wrong } })).toHaveLength(1);
  });
});

describe('INV-09', () => {
  const said = (...arrivals: readonly Arrival[]): readonly string[] => saidOf('INV-09', told({ arrivals }));

  it('holds where everything since the endpoint was made has arrived, also at a second attempt', () => {
    expect(said(...ALL)).toEqual([]);
    expect(said(arrival(DECIDED, { answered: 500 }), arrival(ACTIVATED, { answered: null }), ...ALL)).toEqual([]);
  });

  it('is broken by what was never taken', () => {
    expect(said(arrival(ACTIVATED))).toEqual([`action.decided ${DECIDED} was never taken by ${HOOK}`]);
    expect(said(arrival(ACTIVATED), arrival(DECIDED, { answered: 500 }))).toHaveLength(1);
  });

  it('is broken by what came again after it was taken, unless a fault was under way', () => {
    expect(said(...ALL, arrival(ACTIVATED))).toEqual([
      `${ACTIVATED} at ${HOOK} was taken, and came again though nothing was wrong`,
    ]);
    expect(said(arrival(DECIDED), arrival(ACTIVATED, { isUnderFault: true }), arrival(ACTIVATED))).toEqual([]);
  });

  it('is broken by a ninth attempt', () => {
    const refused = Array.from({ length: 8 }, () => arrival(ACTIVATED, { answered: 500 }));
    expect(said(...refused, ...ALL)).toEqual([`${ACTIVATED} at ${HOOK} came 9 times`]);
  });

  it('is broken by what was told before the endpoint was made, or is not told', () => {
    expect(said(...ALL, arrival(SUBMITTED), arrival(publicIdOf('e4')))).toHaveLength(2);
  });

  it('is broken by a signature under another secret, and by a body that is another event or another time', () => {
    const other = JSON.stringify({ id: ACTIVATED, more: 1 });
    expect(said(arrival(DECIDED), arrival(ACTIVATED, { signature: signed('{}') }))).toEqual([
      `${ACTIVATED} reached ${HOOK} without a signature that is good`,
    ]);
    expect(said(arrival(DECIDED, { body: '{"id":"evt_x"}' }), arrival(ACTIVATED))).toEqual([
      `the body of ${DECIDED} names evt_x`,
    ]);
    expect(said(arrival(ACTIVATED, { body: other, answered: 500 }), ...ALL)).toEqual([
      `${ACTIVATED} came with 2 different bodies`,
    ]);
  });

  it('is broken by a redirect that was followed', () => {
    expect(said(...ALL, arrival(ACTIVATED, { path: '/redirected', isUnderFault: true, answered: 404 }))).toContain(
      `${ACTIVATED} followed a redirect`,
    );
  });
});
