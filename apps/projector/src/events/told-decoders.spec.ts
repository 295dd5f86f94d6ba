import type { DecoderEvent } from '#libs/domain/witness';
import { PublicEventRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { publicEventsProjection } from './public-events.projection.js';

const at = testTime(5);

describe('public events of decoders', () => {
  const scene = new ProjectionScene(publicEventsProjection);
  const told = async (stream: string, ...events: readonly DecoderEvent[]) => {
    await scene.log.append(stream, ...events);
    await scene.project();
    const rows = scene.readModels.source.manager.createQueryBuilder(PublicEventRow, 'row').orderBy('row.seq', 'ASC');
    return (await rows.getMany()).map(({ type, thin }) => [type, thin]);
  };

  it('tell how one is, and what it found, and not which log it follows', async () => {
    const connector = testId('con', 1);
    const of = { org: TEST_ORG, connector, name: 'billing', at };
    const decoder = { object: 'decoder', id: connector, connector, name: 'billing' };
    const nothing = { table: null, rows: null, role: null };
    const bypass = { kind: 'bypass', table: 'public.customers', rows: 3, xid: 7, role: 'clerk' } as const;
    const log: readonly DecoderEvent[] = [
      { type: 'DecoderAttached', data: { ...of, system_id: '73', timeline: 1, slot: 'ags_one', start: '0/1' } },
      { type: 'DecoderDegraded', data: { ...of, reason: 'slot_lagging', lag_bytes: 20_000_000 } },
      { type: 'DecoderDegraded', data: { ...of, reason: 'decoder_down' } },
      { type: 'DecoderDegraded', data: { ...of, reason: 'log_restored' } },
      { type: 'DecoderRecovered', data: of },
      { type: 'DecoderAlerted', data: { ...of, ...bypass } },
      { type: 'DecoderAlerted', data: { ...of, kind: 'forged_mark', xid: 8 } },
      { type: 'DecoderDetached', data: { ...of, slot: 'ags_one' } },
    ];
    expect(await told(`decoder-${connector}`, ...log)).toEqual([
      ['decoder.degraded', { ...decoder, status: 'degraded', reason: 'slot_lagging' }],
      ['decoder.degraded', { ...decoder, status: 'down', reason: 'decoder_down' }],
      ['decoder.degraded', { ...decoder, status: 'invalidated', reason: 'log_restored' }],
      ['decoder.recovered', { ...decoder, status: 'healthy', reason: null }],
      ['decoder.alert', { ...decoder, ...bypass }],
      ['decoder.alert', { ...decoder, ...nothing, kind: 'forged_mark', xid: 8 }],
    ]);
  });
});
