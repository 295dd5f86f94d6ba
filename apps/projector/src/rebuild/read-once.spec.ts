import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_SCHEMA_VERSION, type RecordedEvent } from '#libs/domain/kernel';
import { readableEvents } from '../projection.js';
import { deedsProjection } from '../ledger/deeds.projection.js';
import { READ_ONCE } from './read-once.js';

const METADATA = {
  org: 'org_1',
  actor: { type: 'system', id: null },
  request_id: null,
  causation: 'command',
  correlation: 'command',
  schema: 1,
  at: '2026-10-01T12:00:00.000Z',
};
const SOURCE = { stream: 'action-act_1', revision: 5, event_id: '01234567-89ab-8def-8123-456789abcdef' };
const TEXTS = [METADATA, { ...METADATA, source: SOURCE }].map((metadata) => JSON.stringify(metadata));

const recordedWith = (metadata: string, data = '{"org":"org_1"}'): RecordedEvent => ({
  id: '',
  type: 'DeedSealed',
  data,
  metadata,
  stream: 'ledger-org_1',
  revision: 0,
  position: 0n,
});
const verdicts = (recorded: RecordedEvent): readonly unknown[] =>
  [undefined, READ_ONCE].map((reader) => {
    const { events, unreadable } = readableEvents(deedsProjection, [recorded], reader);
    const [envelope] = events;
    return [unreadable?.reason, envelope?.event, envelope?.metadata, envelope?.recorded];
  });

describe('an event that is read once', () => {
  it.each(TEXTS)('is what it is to other readers, with metadata %s', (metadata) => {
    const [others, once] = verdicts(recordedWith(metadata));
    expect(once).toEqual(others);
    expect(once).toMatchObject([undefined, { type: 'DeedSealed' }, { schema: 1 }, {}]);
  });

  it('is judged as by other readers when its metadata was changed anywhere', () => {
    const place = fc.integer({ min: 0, max: 400 });
    const piece = fc.oneof(
      fc.constantFrom('', '"', '\\', '\n', '2', '-', '{', '}', ',', ' ', 'é', '\u0000'),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...TEXTS), place, fc.integer({ min: 0, max: 2 }), piece, (text, at, cut, added) => {
        const [others, once] = verdicts(recordedWith(text.slice(0, at) + added + text.slice(at + cut)));
        expect(once).toEqual(others);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['newer_schema', recordedWith(TEXTS[0]!.replace('"schema":1', `"schema":${EVENT_SCHEMA_VERSION + 1}`))],
    ['corrupt', recordedWith(TEXTS[0]!.slice(0, -1))],
    ['corrupt', recordedWith(TEXTS[0]!.replace('command', 'com\nmand'))],
    ['corrupt', recordedWith(TEXTS[0]!, '{"org":')],
  ])('stops a projection: %s', (reason, recorded) => {
    expect(readableEvents(deedsProjection, [recorded], READ_ONCE).unreadable?.reason).toBe(reason);
  });
});
