import { closestName, DomainError } from '../kernel/index.js';

/** Of a subscription. */
const EVERY_EVENT = '*';
const EVENTS_MAX = 64;

/** Whatever may be subscribed to where there are these types: all, each family, each type. */
const namesOf = (types: readonly string[]): readonly string[] => {
  const families = new Set(types.map((type) => `${type.slice(0, type.indexOf('.'))}.*`));
  return [EVERY_EVENT, ...families, ...types];
};

/**
 * What an endpoint subscribes to, each once and in the order sent: types, families such as `action.*`, or `*`, under which
 * falls every type, later ones included.
 * @param types that there are
 * @throws {DomainError} validation_failed, param `events` or `events[n]`
 */
export const checkedSubscription = (events: readonly string[], types: readonly string[]): readonly string[] => {
  if (events.length === 0 || events.length > EVENTS_MAX) {
    throw new DomainError('validation_failed', {
      param: 'events',
      message: `The field events must list 1 to ${EVENTS_MAX} event types; ["*"] stands for all of them.`,
    });
  }
  const names = namesOf(types);
  const unknown = events.findIndex((event) => !names.includes(event));
  if (unknown >= 0) {
    const meant = closestName(events[unknown] as string, names);
    const next = meant === null ? `Use one of ${names.join(', ')}.` : `Did you mean ${meant}?`;
    throw new DomainError('validation_failed', {
      param: `events[${unknown}]`,
      message: `The field events[${unknown}] is not an event type. ${next}`,
    });
  }
  return [...new Set(events)];
};

/** Whether an event of this type goes to whoever has subscribed so. */
export const isSubscribed = (events: readonly string[], type: string): boolean =>
  events.some(
    (event) => event === EVERY_EVENT || event === type || (event.endsWith('.*') && type.startsWith(event.slice(0, -1))),
  );
