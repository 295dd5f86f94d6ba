import { type Clock, DomainError, type Logger } from '../../kernel/index.js';
import type { ConnectorDriver, ToolsAnswer } from '../connector-driver.port.js';
import type { ConnectorHealth } from '../connector-health.port.js';
import type { ConnectorType } from '../connector.events.js';
import { isNamedByServer } from '../connector-types.js';
import type { LiveConnector } from '../connector.state.js';
import type { ConnectorStreams } from '../connector-streams.js';
import { changeSince } from './change-since.js';
import type { ConnectorAddress } from './connector.messages.js';
import { tooMany } from './connector-tests.js';

/** Of one look at a server's tools, with whatever it takes to find out how the server speaks. */
export const DISCOVERY_TIME_MS = 15_000;

interface ToolDiscoveryParts {
  readonly registry: { driverOf(type: ConnectorType): ConnectorDriver | null };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Asks the servers of connectors for their tools, beside the calls that need to know. */
export class ToolDiscovery {
  constructor(
    private readonly connectors: ConnectorStreams,
    private readonly health: Pick<ConnectorHealth, 'begin'>,
    private readonly parts: ToolDiscoveryParts,
  ) {}

  /**
   * `POST /v1/connectors/{id}/tools/refresh`: on behalf of a person, so no Stop holds it back.
   * @throws {DomainError} not_found; rate_limited; conflict where the config names the tools, or the server could not be
   * asked; whatever keeps its answer from being recorded
   */
  async refresh(address: ConnectorAddress): Promise<LiveConnector> {
    const connector = await this.connectors.live(address);
    const { org, name, id, type } = connector;
    const driver = this.parts.registry.driverOf(type);
    if (driver === null || !isNamedByServer(type)) throw new DomainError('conflict', { message: NO_SERVER });
    const waitMs = await this.health.begin({ org, name, connector: id }, this.parts.clock.nowMs());
    if (waitMs !== null) throw tooMany(waitMs);
    const answer = await this.ask(driver, connector);
    if (answer?.ok === false) {
      throw new DomainError('connector_unavailable', { message: `${answer.errorMessage} ${TEST_IT}` });
    }
    if (answer?.whyUnrecorded) throw answer.whyUnrecorded;
    return this.connectors.live(address);
  }

  /**
   * After a change that may lead to other tools. Beside the change: what comes of it stands in the log, or in a log line. A
   * process that is killed meanwhile leaves it to the sweeper, as a server does that gives no answer.
   */
  begin(connector: LiveConnector): void {
    const driver = this.parts.registry.driverOf(connector.type);
    if (driver === null || !isNamedByServer(connector.type) || connector.status !== 'active') return;
    void this.ask(driver, connector).then(
      (answer) => this.report(connector, answer),
      (error: unknown) => this.parts.logger.error('a server could not be asked for its tools', { error }),
    );
  }

  private ask(driver: ConnectorDriver, connector: LiveConnector): Promise<ToolsAnswer | null> {
    return driver.refreshTools({
      connector,
      deadlineMonotonicMs: this.parts.clock.monotonicMs() + DISCOVERY_TIME_MS,
      mayStillSend: () => changeSince(this.connectors, connector),
      isYoungEnough: false,
    });
  }

  private report({ org, id }: LiveConnector, answer: ToolsAnswer | null): void {
    if (answer === null || answer.ok) return;
    const facts = { org_id: org, connector: id, reason: answer.errorCode };
    this.parts.logger.info(UNANSWERED, facts);
  }
}

export const UNANSWERED =
  'a server did not say which tools it has; it is asked again in some minutes, and when one of them is called';
const TEST_IT = 'Test the connector to see what keeps it, POST /v1/connectors/{id}/test, and ask again.';
const NO_SERVER = 'The tools of this connector stand in its config. Change them there, with PATCH /v1/connectors/{id}.';
