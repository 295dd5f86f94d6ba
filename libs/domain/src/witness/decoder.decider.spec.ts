import { describe, expect, it } from 'vitest';
import type { CommandMetadata, ConnectorId, OrgId } from '../kernel/index.js';
import type { DecoderCommand } from './decoder.commands.js';
import { decoderDecider } from './decoder.decider.js';
import type { DecoderEvent, DecoderReason } from './decoder.events.js';

const of = {
  org: 'org_00000000000000000000000001' as OrgId,
  connector: 'con_00000000000000000000000001' as ConnectorId,
  name: 'billing',
};
const log = { system_id: '7301', timeline: 1, slot: 'ags_one', start: '0/100' };
const time = (second: number): string =>
  `2026-10-01T12:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.000Z`;
const at = time(0);
const metadata = (second: number): CommandMetadata => ({
  org: of.org,
  actor: { type: 'system', id: null },
  requestId: null,
  commandId: `command-${second}`,
  now: time(second),
});

const fold = (events: readonly DecoderEvent[]) => events.reduce(decoderDecider.evolve, decoderDecider.initialState());
const given = (...events: readonly DecoderEvent[]) => ({
  when: (command: Omit<DecoderCommand, 'metadata'>, second = 0) => ({
    then: (...expected: readonly DecoderEvent[]) =>
      expect(decoderDecider.decide({ ...command, metadata: metadata(second) } as DecoderCommand, fold(events))).toEqual(
        expected,
      ),
  }),
});

const attached: DecoderEvent = { type: 'DecoderAttached', data: { ...of, ...log, at } };
const degraded = (reason: DecoderReason): DecoderEvent => ({
  type: 'DecoderDegraded',
  data: { ...of, reason, at },
});
const recovered: DecoderEvent = { type: 'DecoderRecovered', data: { ...of, at } };
const detached: DecoderEvent = { type: 'DecoderDetached', data: { ...of, slot: 'ags_one', at } };

describe('a decoder and its log', () => {
  const attach = (changed: Partial<typeof log> = {}): Omit<DecoderCommand, 'metadata'> => ({
    type: 'AttachDecoder',
    data: { ...of, ...log, ...changed },
  });

  it('are attached once', () => {
    given().when(attach()).then(attached);
    given(attached).when(attach()).then();
    given(attached)
      .when(attach({ start: '0/200' }))
      .then();
    given(attached, degraded('decoder_down')).when(attach()).then();
  });

  it.each([{ system_id: '7302' }, { timeline: 2 }, { slot: 'ags_two' }])(
    'are attached anew to another one: %j',
    (changed) =>
      given(attached)
        .when(attach(changed))
        .then({ type: 'DecoderAttached', data: { ...of, ...log, ...changed, at } }),
  );

  it.each(['slot_invalidated', 'log_restored'] as const)('are attached anew to one that was lost: %s', (reason) =>
    given(attached, degraded(reason))
      .when(attach({ start: '0/200' }))
      .then({ type: 'DecoderAttached', data: { ...of, ...log, start: '0/200', at } }),
  );

  it('are detached where they were attached, and the next log is no other one', () => {
    const detach: Omit<DecoderCommand, 'metadata'> = { type: 'DetachDecoder', data: { ...of, slot: 'ags_one' } };
    given().when(detach).then();
    given(attached).when(detach).then(detached);
    given(attached, detached).when(detach).then();
    expect(fold([attached, degraded('decoder_down'), detached])).toEqual(decoderDecider.initialState());
  });
});

describe('the health of a decoder', () => {
  const report = (reason: 'slot_lagging' | 'decoder_down' | null, lag?: number): Omit<DecoderCommand, 'metadata'> => ({
    type: 'ReportHealth',
    data: { ...of, reason, ...(lag === undefined ? {} : { lag_bytes: lag }) },
  });

  it('is told when it gets worse, with how far it is behind', () =>
    given(attached)
      .when(report('slot_lagging', 20_000_000))
      .then({ type: 'DecoderDegraded', data: { ...of, reason: 'slot_lagging', lag_bytes: 20_000_000, at } }));

  it('is told once, however far it falls behind', () =>
    given(attached, degraded('slot_lagging')).when(report('slot_lagging', 40_000_000)).then());

  it('is told again when something else is wrong', () =>
    given(degraded('slot_lagging')).when(report('decoder_down')).then(degraded('decoder_down')));

  it('is told when it is well again, and not before it was ever unwell', () => {
    given(degraded('decoder_down')).when(report(null)).then(recovered);
    given(degraded('decoder_down'), recovered).when(report(null)).then();
    given().when(report(null)).then();
  });
});

describe('an alert of a decoder', () => {
  const bypass = { kind: 'bypass', table: 'public.customers', rows: 3, xid: 7, role: 'clerk' } as const;
  const told = (second: number, table = 'public.customers'): DecoderEvent => ({
    type: 'DecoderAlerted',
    data: { ...of, ...bypass, table, at: time(second) },
  });
  const report = (table = 'public.customers'): Omit<DecoderCommand, 'metadata'> => ({
    type: 'ReportAlert',
    data: { ...of, ...bypass, table },
  });

  it('about a bypass comes once a minute for a table', () => {
    given().when(report(), 1).then(told(1));
    given(told(1)).when(report(), 60).then();
    given(told(1)).when(report(), 61).then(told(61));
    given(told(1)).when(report('public.orders'), 2).then(told(2, 'public.orders'));
  });

  it('about a bypass comes, too, where the clock was set back by more than that', () =>
    given(told(300)).when(report(), 1).then(told(1)));

  it('about a forged mark comes every time', () => {
    const forged = { kind: 'forged_mark', xid: 9 } as const;
    const event: DecoderEvent = { type: 'DecoderAlerted', data: { ...of, ...forged, at } };
    given(event)
      .when({ type: 'ReportAlert', data: { ...of, ...forged } })
      .then(event);
  });

  it('leaves no table behind whose minute is over', () =>
    expect([...fold([told(1), told(2, 'public.orders'), told(62, 'public.refunds')]).toldBypasses.keys()]).toEqual([
      'public.refunds',
    ]));
});
