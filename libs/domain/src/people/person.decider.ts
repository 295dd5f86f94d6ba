import { DomainError, type CommandMetadata, type Decider, type Timestamp, type UserId } from '../kernel/index.js';

/** Stream `user-<usr_id>`. The e-mail address is never in an event: a row found by its keyed hash holds it. */
export type PersonEvent = { type: 'PersonCreated'; data: { user: UserId; at: Timestamp } };

export type PersonCommand = { type: 'CreatePerson'; data: { user: UserId }; metadata: CommandMetadata };

export type Person = { readonly status: 'none' } | { readonly status: 'known'; readonly user: UserId };

export const personDecider: Decider<Person, PersonCommand, PersonEvent> = {
  category: 'user',
  eventTypes: { PersonCreated: true },
  initialState: () => ({ status: 'none' }),
  decide: (command, state) => {
    if (state.status !== 'none') throw new DomainError('conflict');
    return [{ type: 'PersonCreated', data: { ...command.data, at: command.metadata.now } }];
  },
  evolve: (_state, event) => ({ status: 'known', user: event.data.user }),
};
