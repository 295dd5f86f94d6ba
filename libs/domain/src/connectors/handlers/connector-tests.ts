import { type Clock, DomainError, epochMsOf, type OrgId, timestampOf } from '../../kernel/index.js';
import { commonChecks, type CommonCheckParts } from '../common-checks.js';
import type { ConnectorDriver } from '../connector-driver.port.js';
import type { ConnectorBreakers } from '../connector-breakers.js';
import { type ConnectorHealth, TESTS_A_MINUTE } from '../connector-health.port.js';
import { type LiveConnector, isLive } from '../connector.state.js';
import type { ConnectorStreams } from '../connector-streams.js';
import { type ConnectorCheck, type ConnectorTest, healthOf, runChecks } from '../connector-test.js';
import type { ConnectorType } from '../connector.events.js';
import { changeSince } from './change-since.js';
import type { ConnectorAddress } from './connector.messages.js';

/** Of a test: the longest request that a config allows takes a minute, and what stands around it moments. */
const TEST_TIME_MS = 75_000;

/** So long a checklist is answered again as it is: whoever watches a set-up asks often, and the system is not asked each time. */
const FRESH_MS = 10_000;

interface ConnectorTestParts extends CommonCheckParts {
  readonly registry: { driverOf(type: ConnectorType): ConnectorDriver | null };
  readonly clock: Clock;
  /** Those of the process: what a test shows keeps its calls from being sent, too. */
  readonly breakers: Pick<ConnectorBreakers, 'trip'>;
}

/** `POST /v1/connectors/{id}/test` and `GET /v1/connectors/{id}/readiness`: whether a connector works, found by reading alone. */
export class ConnectorTests {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly health: ConnectorHealth,
    private readonly parts: ConnectorTestParts,
  ) {}

  /**
   * Runs the checklist and keeps the result as the connector's health. It is made on behalf of a person, so no Stop holds it
   * back, and a disabled connector can be tested before it is enabled. What it found of a config or a credential that was
   * replaced meanwhile is kept, and counts for nothing. A connector that must not go on is disabled, as by a call.
   * @throws {DomainError} not_found, also of a connector that was deleted meanwhile; rate_limited
   */
  async test(address: ConnectorAddress): Promise<ConnectorTest> {
    const { clock } = this.parts;
    const connector = await this.connectors.live(address);
    const { org, name, id, configHash } = connector;
    const startedMs = clock.nowMs();
    const waitMs = await this.health.begin({ org, name, connector: id }, startedMs);
    if (waitMs !== null) throw tooMany(waitMs);
    const { breaker, ...ran } = await runChecks(this.checksOf(connector), {
      connector,
      deadlineMonotonicMs: clock.monotonicMs() + TEST_TIME_MS,
      mayStillSend: () => changeSince(this.connectors, connector),
    });
    if (breaker !== null) await this.parts.breakers.trip(connector, breaker);
    const credentialVersion = connector.credential?.version ?? null;
    const test = { connector: id, ...ran, testedAt: timestampOf(startedMs), configHash, credentialVersion };
    await this.health.record(test);
    // Asked after the row was written: whichever of the two comes last, a deletion or this, leaves none.
    if (!(await this.isThere(org, name, id))) {
      await this.health.forget(id);
      throw new DomainError('not_found');
    }
    return test;
  }

  /**
   * The checklist of now: that of the last test where it speaks of this config and credential and began a moment ago, else of
   * one that is made. It counts as a test like any other.
   * @throws {DomainError} as {@link test}
   */
  async readiness(address: ConnectorAddress): Promise<ConnectorTest> {
    const connector = await this.connectors.live(address);
    const last = (await this.health.lastOf([connector.id])).get(connector.id) ?? null;
    if (last !== null && healthOf(connector, last) !== 'not_tested' && this.isFresh(last)) return last;
    return this.test({ org: connector.org, name: connector.name, connector: connector.id });
  }

  /** A clock that was set back makes none fresher. */
  private isFresh({ testedAt }: ConnectorTest): boolean {
    const ageMs = this.parts.clock.nowMs() - epochMsOf(testedAt);
    return ageMs >= 0 && ageMs < FRESH_MS;
  }

  /** The common checks, those that the type has instead of one, and those that it has beside them. */
  private checksOf({ type }: LiveConnector): readonly ConnectorCheck[] {
    const own = this.parts.registry.driverOf(type)?.checks() ?? [];
    const common = commonChecks(this.parts);
    const isCommon = ({ name }: ConnectorCheck): boolean => common.some((check) => check.name === name);
    return [
      ...common.map((check) => own.find(({ name }) => name === check.name) ?? check),
      ...own.filter((check) => !isCommon(check)),
    ];
  }

  private async isThere(org: OrgId, name: string, id: LiveConnector['id']): Promise<boolean> {
    const { state } = await this.connectors.load(org, name);
    return isLive(state) && state.id === id;
  }
}

export const tooMany = (waitMs: number): DomainError =>
  new DomainError('rate_limited', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    message: `A connector is tested at most ${TESTS_A_MINUTE} times a minute, and asked for its tools no more often. Wait as long as Retry-After says.`,
  });
