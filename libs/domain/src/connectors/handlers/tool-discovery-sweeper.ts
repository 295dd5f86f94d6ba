import {
  BrokenStream,
  type Clock,
  type ConnectorId,
  type EndSignal,
  epochMsOf,
  type ErrorCode,
  type FoldedStreams,
  type Logger,
  StoreUnavailable,
  streamRef,
} from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import { connectorDecider } from '../connector.decider.js';
import type { ConnectorDriver } from '../connector-driver.port.js';
import type { ConnectorType } from '../connector.events.js';
import { connectorStreamId, isLive, type LiveConnector } from '../connector.state.js';
import { NAMED_BY_SERVER } from '../connector-types.js';
import type { ListedConnector, ListedConnectors } from '../listed-connectors.port.js';
import { isLookOwed } from '../owed-look.js';
import { changeBetween } from './change-since.js';
import { DISCOVERY_TIME_MS, UNANSWERED } from './tool-discovery.js';

const ASKED_AT_ONCE = 4;
/** The process that changes a connector asks its server itself ({@link ToolDiscovery}), in that time. */
const OWN_LOOK_MS = 60_000;
/** From a question that led to nothing to the next one; twice as long after each that follows it. */
const FIRST_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;
/** After it a sweep asks nobody more. The next one sees what has changed, and begins with whoever failed least often. */
const SWEEP_MS = 60_000;

/** What this process knows of a server that it has asked. */
interface Tried {
  /** Which config and credential it was asked with. Others are another question. */
  readonly version: string;
  readonly failures: number;
  /** On the monotonic clock. For ever after an answer: it was the list that the log had. */
  readonly nextMs: number;
}

interface ToolDiscoverySweeperParts {
  readonly registry: { driverOf(type: ConnectorType): ConnectorDriver | null };
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Asks servers for their tools that nobody has asked since their connector changed: the process that changed it was
 * killed, or the server did not answer. What was tried is known to this process alone; another one begins anew.
 */
export class ToolDiscoverySweeper {
  private tries = new Map<ConnectorId, Tried>();

  constructor(
    private readonly streams: FoldedStreams,
    private readonly connectors: ListedConnectors,
    private readonly parts: ToolDiscoverySweeperParts,
  ) {}

  /**
   * Never throws for what a server did. Repeated, stopped or run twice at once it does no harm.
   * @param signal ends it before the next question
   * @throws {StoreUnavailable}
   */
  async sweep(signal: EndSignal): Promise<void> {
    const { clock } = this.parts;
    const endsMs = clock.monotonicMs() + SWEEP_MS;
    const due = (await this.due()).values();
    const askOn = async (): Promise<void> => {
      for (const connector of due) {
        if (signal.aborted || clock.monotonicMs() >= endsMs) return;
        await this.ask(connector, signal);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
  }

  /** Those that failed least often first. */
  private async due(): Promise<readonly LiveConnector[]> {
    const { clock } = this.parts;
    const owed: LiveConnector[] = [];
    for await (const page of this.connectors.active(NAMED_BY_SERVER))
      owed.push(...(await this.folded(page)).filter(isLookOwed));
    this.forgetOthers(owed);
    const nowMs = clock.monotonicMs();
    const failuresOf = ({ id }: LiveConnector): number => this.tries.get(id)?.failures ?? 0;
    return owed
      .filter((connector) => !this.isYoung(connector) && (this.tries.get(connector.id)?.nextMs ?? 0) <= nowMs)
      .sort((one, other) => failuresOf(one) - failuresOf(other));
  }

  /** As their streams have them. One that cannot be read does not keep the others. */
  private async folded(page: readonly ListedConnector[]): Promise<readonly LiveConnector[]> {
    const refs = page.map(({ org, name }) => streamRef(connectorDecider, connectorStreamId(org, name)));
    try {
      const folded = await this.streams.loadAll(Object.fromEntries(refs.map((ref) => [ref.stream, ref])));
      return Object.values(folded).flatMap(({ state }) => (isLive(state) ? [state] : []));
    } catch (error) {
      if (error instanceof StoreUnavailable && !(error instanceof BrokenStream)) throw error;
      if (page.length > 1) return (await Promise.all(page.map((one) => this.folded([one])))).flat();
      const facts = { stream: refs[0]?.stream ?? '', error };
      this.parts.logger.warn('a connector could not be read, and its server is not asked for tools', facts);
      return [];
    }
  }

  /** What has changed, or is not owed any more, begins anew. */
  private forgetOthers(owed: readonly LiveConnector[]): void {
    const kept = owed.flatMap((connector) => {
      const tried = this.tries.get(connector.id);
      return tried?.version === versionOf(connector) ? [[connector.id, tried] as const] : [];
    });
    this.tries = new Map(kept);
  }

  /** A clock that was set back makes nothing young for longer than that time. */
  private isYoung({ updatedAt }: LiveConnector): boolean {
    const ageMs = this.parts.clock.nowMs() - epochMsOf(updatedAt);
    return ageMs >= 0 && ageMs < OWN_LOOK_MS;
  }

  private async ask(connector: LiveConnector, signal: EndSignal): Promise<void> {
    const { registry, clock, logger } = this.parts;
    const facts = { org_id: connector.org, connector: connector.id };
    try {
      if ((await this.whyNot(connector, signal)) !== null) return;
      const tried = this.noteTry(connector);
      const answer = await registry.driverOf(connector.type)?.refreshTools({
        connector,
        deadlineMonotonicMs: clock.monotonicMs() + DISCOVERY_TIME_MS,
        mayStillSend: () => this.whyNot(connector, signal),
        isYoungEnough: false,
      });
      if (answer?.ok === true && answer.whyUnrecorded === null) {
        this.tries.set(connector.id, { ...tried, nextMs: Infinity });
      } else if (answer?.ok === false && !signal.aborted) {
        logger.info(UNANSWERED, { ...facts, reason: answer.errorCode });
      }
    } catch (error) {
      if (!signal.aborted) logger.error('a server could not be asked for its tools', { ...facts, error });
    }
  }

  /** Counted before it is asked: a question that never ends is one that failed. */
  private noteTry(connector: LiveConnector): Tried {
    const failures = (this.tries.get(connector.id)?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    const nextMs = this.parts.clock.monotonicMs() + pauseMs;
    const tried = { version: versionOf(connector), failures, nextMs };
    this.tries.set(connector.id, tried);
    return tried;
  }

  /** Nobody asked for it, so a Stop and a disabled connector hold it back as they hold back a call. */
  private async whyNot(connector: LiveConnector, signal: EndSignal): Promise<ErrorCode | null> {
    if (signal.aborted) return 'service_unavailable';
    const { org, name } = connector;
    const now = await this.streams.loadAll({
      org: streamRef(organizationDecider, org),
      connector: streamRef(connectorDecider, connectorStreamId(org, name)),
    });
    if (now.org.state.status === 'stopped') return 'org_stopped';
    const { state } = now.connector;
    if (isLive(state) && state.status !== 'active') return 'connector_unavailable';
    return changeBetween(connector, state);
  }
}

const versionOf = ({ configHash, credential }: LiveConnector): string => `${configHash} ${credential?.version ?? ''}`;
