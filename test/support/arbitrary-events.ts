import type { DomainEvent } from '#libs/domain/kernel';
import fc from 'fast-check';
import type { EventOf } from './given-log.js';

/** Events of one stream, in order. */
export interface ArbitraryStream {
  readonly stream: string;
  readonly events: readonly DomainEvent[];
}

/** An arbitrary for every event of a union: one that is left out, or a member that is, does not compile. */
export type EventArbitraries<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: fc.Arbitrary<EventOf<Event, Type>['data']>;
};

export const anyOf = <Event extends DomainEvent>(
  arbitraries: EventArbitraries<Event>,
  types = Object.keys(arbitraries) as Event['type'][],
): fc.Arbitrary<DomainEvent> => fc.oneof(...types.map((type) => arbitraries[type].map((data) => ({ type, data }))));
