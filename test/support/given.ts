import { expect } from 'vitest';
import {
  DomainError,
  OPERATOR,
  type Actor,
  type CommandMetadata,
  type Decider,
  type DomainEvent,
  type ErrorCode,
} from '#libs/domain/kernel';

export const NOW = '2026-10-01T12:00:00.000Z';

/** `NOW` and this many milliseconds. */
export const after = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

export const metadataAt = (now = NOW, actor: Actor = OPERATOR): CommandMetadata => ({
  org: 'org_00000000000000000000000001',
  actor,
  requestId: null,
  commandId: 'command-1',
  now,
});

type Bare<Command> = Command extends { metadata: CommandMetadata } ? Omit<Command, 'metadata'> : never;

/** given(events).when(command).then(events) or .thenRefuses(code), for one decider. */
export const givenFor =
  <State, Command extends { metadata: CommandMetadata }, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
  ) =>
  (...events: readonly Event[]) => {
    const state = events.reduce(decider.evolve, decider.initialState());
    return {
      state,
      when: (command: Bare<Command>, now = NOW, actor: Actor = OPERATOR) => {
        const run = (): readonly Event[] =>
          decider.decide({ ...command, metadata: metadataAt(now, actor) } as unknown as Command, state);
        return {
          events: run,
          then: (...expected: readonly Event[]) => expect(run()).toEqual(expected),
          thenNothing: () => expect(run()).toEqual([]),
          thenRefuses: (code: ErrorCode, param: string | null = null) => {
            expect(run).toThrow(DomainError);
            expect(run).toThrow(expect.objectContaining({ code, param }) as Error);
          },
        };
      },
    };
  };
