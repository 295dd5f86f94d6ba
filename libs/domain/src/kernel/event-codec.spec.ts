import { expect, it } from 'vitest';
import { BrokenStream } from './broken-stream.js';
import {
  decodeEvent,
  encodeEventAs,
  encodeEvents,
  EVENT_SCHEMA_VERSION,
  eventIdOf,
  recordedAt,
  recordedByWriter,
  UnknownEventType,
  type EventMetadata,
} from './event-codec.js';
import type { NewEvent } from './event-store.port.js';

const metadata: EventMetadata = {
  org: 'org_00000000000000000000000001',
  actor: { type: 'system', id: null },
  request_id: null,
  causation: 'cmd-1',
  correlation: 'cmd-1',
  schema: EVENT_SCHEMA_VERSION,
  at: '2026-01-01T00:00:00.000Z',
};
const opened = { type: 'Opened', data: { name: 'thing', size: 1 } };
const closed = { type: 'Closed', data: {} };
const encoded = encodeEvents([opened, closed], metadata, 'thing-1', 4);
const [first] = encoded as [NewEvent];

it('event codec: each event of an append takes its id from its own place and content', () => {
  const meta = JSON.stringify(metadata);
  expect(encoded.map(({ id }) => id)).toEqual([
    eventIdOf({ stream: 'thing-1', revision: 4, type: 'Opened', data: '{"name":"thing","size":1}', metadata: meta }),
    eventIdOf({ stream: 'thing-1', revision: 5, type: 'Closed', data: '{}', metadata: meta }),
  ]);
  expect(encodeEvents([opened], metadata, 'thing-1', 5)[0]?.id).not.toBe(first.id);
});

it('event codec: the process that encoded an event decodes it to the same objects', () => {
  const envelope = decodeEvent(recordedByWriter(first, 'thing-1', 4, 9n));
  expect(envelope.event).toBe(opened);
  expect(envelope.metadata).toBe(metadata);
  expect(envelope.recorded).toEqual({ ...first, stream: 'thing-1', revision: 4, position: 9n });
});

it('event codec: an event of another process is parsed to equal objects', () => {
  const theirs = structuredClone(first);
  for (const recorded of [recordedAt(first, 'thing-1', 4, 9n), recordedByWriter(theirs, 'thing-1', 4, 9n)]) {
    const envelope = decodeEvent(recorded);
    expect(envelope.event).not.toBe(opened);
    expect(envelope).toEqual({ event: opened, metadata, recorded });
    expect(decodeEvent(recorded)).toBe(envelope);
  }
});

it('event codec: a recorded event that is a plain object is decoded too', () => {
  const recorded = { ...first, stream: 'thing-1', revision: 4, position: 9n };
  expect(decodeEvent(recorded)).toEqual({ event: opened, metadata, recorded });
});

it('event codec: an event can be encoded under a given id', () => {
  const id = '00000000-0000-8000-8000-000000000001';
  expect(encodeEventAs(id, opened, metadata)).toEqual({ ...first, id });
});

it('event codec: an event of a newer schema is refused by name', () => {
  const newer = JSON.stringify({ ...metadata, schema: EVENT_SCHEMA_VERSION + 1 });
  expect(() => decodeEvent(recordedAt({ ...first, metadata: newer }, 'thing-1', 4, 9n))).toThrow(UnknownEventType);
});

it.each(['', '{', '"secret', '5', 'null'])(
  'event codec: %j is a damaged event, and the error names its place and not its text',
  (text) => {
    for (const change of [{ data: text }, { metadata: text }]) {
      const decode = () => decodeEvent(recordedAt({ ...first, ...change }, 'thing-1', 4, 9n));
      expect(decode).toThrow(BrokenStream);
      expect(decode).toThrow(
        'thing-1 holds at revision 4 an event (Opened) that cannot be read: it was damaged or altered. Restore the log as it ' +
          'was; `npm run ags -- audit` says what else is wrong with it',
      );
    }
  },
);
