import { randomUUID } from 'node:crypto';
import type { Append, NewEvent } from '#libs/domain/kernel';

/** An event that is like no other. */
export const newEvent = (fields: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'SomethingHappened',
  data: '{"amount":1}',
  metadata: '{}',
  ...fields,
});

export const newEvents = (count: number): readonly NewEvent[] => Array.from({ length: count }, () => newEvent());

/** As one command writes them: their metadata is theirs alone. */
export const eventsOfOneCommand = (count: number): readonly NewEvent[] => {
  const metadata = JSON.stringify({ causation: randomUUID() });
  return newEvents(count).map((event) => ({ ...event, metadata }));
};

/** A stream that no other test writes. */
export const newStream = (): string => `test-${randomUUID().replaceAll('-', '')}`;

/** An append of so many events to a stream that is not there. */
export const firstOf = (stream: string, count = 1): Append => ({
  stream,
  expectedRevision: 'no_stream',
  events: newEvents(count),
});
