import { binaryEvent, type EventData, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client';
import { vi } from 'vitest';

/** What the specs of the test server say to the client of the package, without the adapter. */
export const event = (fields: Partial<Parameters<typeof binaryEvent>[0]> = {}): EventData =>
  binaryEvent({ type: 'SomethingHappened', data: Buffer.from('{}'), ...fields });

export const events = (count: number): EventData[] => Array.from({ length: count }, () => event());

export const idsOf = (known: readonly { readonly id: string }[]): string[] => known.map(({ id }) => id);

export const at = (position: bigint) => ({ commit: position, prepare: position });

/** All of a read. */
export const read = async (reading: AsyncIterable<Pick<ResolvedEvent, 'event'>>) => {
  const recorded: NonNullable<ResolvedEvent['event']>[] = [];
  for await (const { event: found } of reading) recorded.push(found!);
  return recorded;
};

/** What a subscription tells, in order: events of the server itself left out. */
export const follow = (client: EventStoreDBClient, options: Parameters<EventStoreDBClient['subscribeToAll']>[0]) => {
  const told: string[] = [];
  const errors: Error[] = [];
  const subscription = client.subscribeToAll(options);
  subscription
    .on('caughtUp', () => told.push('caught up'))
    .on('confirmation', () => told.push('confirmation'))
    .on('error', (error) => errors.push(error))
    .on('data', ({ event: found }) => {
      if (!found!.type.startsWith('$')) told.push(found!.id);
    });
  return { told, errors, end: () => subscription.unsubscribe() };
};

/** Soon, also on a machine that is busy. */
export const eventually = <Result>(assertion: () => Result) => vi.waitFor(assertion, { timeout: 10_000, interval: 10 });
