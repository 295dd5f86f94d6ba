import type { RecordedEvent as KurrentEvent } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { newEvent } from '../../../../../test/support/new-event.js';
import { eventDataOf, isSystemEvent, recordedEventOf } from './recorded-text.js';

/** What the client returns for an event that it wrote: JSON parsed, other data as bytes. */
const stored = (written: ReturnType<typeof eventDataOf>): KurrentEvent =>
  ({
    ...written,
    metadata: parsedIfJson(written.metadata as Uint8Array),
    streamId: 's-1',
    revision: 3n,
    position: { commit: 77n, prepare: 77n },
  }) as unknown as KurrentEvent;

const parsedIfJson = (bytes: Uint8Array): unknown => {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return bytes;
  }
};

describe('text in an event store that knows JSON', () => {
  it.each([
    ['as the service writes it', '{"amount":5000,"note":"zażółć 🦊"}'],
    ['with a member that names a prototype', '{"__proto__":{"a":1}}'],
    ['that is no object', '"text"'],
    ['with spaces', '{ "a": 1 }'],
    ['with a member twice', '{"a":1,"a":2}'],
    ['with members in an order that JavaScript changes', '{"b":1,"2":1,"1":1}'],
    ['with a number that no double holds', '{"n":12345678901234567890}'],
    ['with escapes that nobody needs', '{"a":"\\u0041\\/"}'],
    ['that is no JSON', 'free text'],
    ['that is empty', ''],
  ])('comes back byte for byte: %s', (_, text) => {
    const written = newEvent({ data: text, metadata: text });
    expect(recordedEventOf(stored(eventDataOf(written)))).toEqual({
      ...written,
      stream: 's-1',
      revision: 3,
      position: 77n,
    });
  });

  it('is stored as JSON if parsing and serializing leave the text unchanged', () => {
    const { contentType, metadata } = eventDataOf(newEvent({ data: '{"a":1}', metadata: '{"org":"o"}' }));
    expect(contentType).toBe('application/json');
    expect(Buffer.from(metadata as Uint8Array).toString()).toBe('{"org":"o"}');
    expect(eventDataOf(newEvent({ data: '{ "a":1}' })).contentType).toBe('application/octet-stream');
  });

  it('is given to the client as a plain Uint8Array, because it takes nothing else for bytes', () => {
    expect((eventDataOf(newEvent()).metadata as Uint8Array).constructor).toBe(Uint8Array);
  });
});

describe('the server’s own events', () => {
  it('are recognised by their stream or their type', () => {
    expect(isSystemEvent({ streamId: '$scavenges', type: '$scavengeStarted' })).toBe(true);
    expect(isSystemEvent({ streamId: '$$action-1', type: '$metadata' })).toBe(true);
    expect(isSystemEvent({ streamId: 'action-1', type: 'ActionSubmitted' })).toBe(false);
  });
});
