import {
  DomainError,
  type Clock,
  type CommandRunner,
  type CompoundAppends,
  type EventStore,
  type FoldedStreams,
  type OrgId,
  type Randomness,
} from '../../kernel/index.js';
import { ConnectorBreakers } from '../../connectors/index.js';
import type { PeopleDirectory } from '../../people/index.js';
import type { ConnectorRegistry } from './connector-registry.port.js';
import type { GateSettings } from './gate.settings.js';
import type { SealingBacklog } from './sealing-backlog.port.js';

export interface GateKernelParts {
  readonly store: EventStore;
  /** For events that name a payload, or that require other streams to stand still. */
  readonly appends: CompoundAppends;
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;
  readonly registry: ConnectorRegistry;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly settings: GateSettings;
  readonly people: Pick<PeopleDirectory, 'usersAt'>;
  readonly backlog: SealingBacklog;
}

/**
 * The dependencies that all handlers of the gate share, as one value instead of the same ten constructor parameters in
 * each.
 */
export class GateKernel {
  readonly store: EventStore;
  readonly appends: CompoundAppends;
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;
  readonly registry: ConnectorRegistry;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly settings: GateSettings;
  /** Finds the persons behind the addresses in an on-behalf-of reference. */
  readonly people: Pick<PeopleDirectory, 'usersAt'>;
  /** Of this process: whoever sends asks them, and whoever sees what must not be trips them. */
  readonly breakers: ConnectorBreakers;
  private readonly backlog: SealingBacklog;

  constructor(parts: GateKernelParts) {
    this.store = parts.store;
    this.appends = parts.appends;
    this.streams = parts.streams;
    this.runner = parts.runner;
    this.registry = parts.registry;
    this.clock = parts.clock;
    this.randomness = parts.randomness;
    this.settings = parts.settings;
    this.people = parts.people;
    this.breakers = new ConnectorBreakers(parts);
    this.backlog = parts.backlog;
  }

  /**
   * Refuses new work while the organization's outcomes wait too long for their deeds (rule GATE-9).
   * @throws {DomainError} service_unavailable
   */
  requireSealingKeepsUp(org: OrgId): void {
    if (this.backlog.oldestUnsealedAgeMs(org) < this.settings.unsealedLimitMs) return;
    throw new DomainError('service_unavailable', {
      message:
        'Earlier outcomes could not be sealed yet, so no new action is taken. An operator must look: `npm run ags -- doctor` says why.',
      retryAfterSeconds: 30,
    });
  }
}
