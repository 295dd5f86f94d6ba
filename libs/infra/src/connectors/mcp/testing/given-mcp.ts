/** A live connector to a scripted server, its vault, its log and a driver. */
import { randomBytes } from 'node:crypto';
import { afterEach } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  connectorDecider,
  ConnectorStreams,
  connectorStreamId,
  type LiveConnector,
  readConfig,
  ToolRecorder,
  type ToolsAnswer,
} from '#libs/domain/connectors';
import {
  type Clock,
  CommandRunner,
  type EventStore,
  FoldedStreams,
  idOf,
  type Logger,
  OPERATOR,
  timestampOf,
} from '#libs/domain/kernel';
import { EgressDoor, type EgressSettings } from '#libs/infra/egress';
import { MemoryEventStore } from '#libs/infra/event-store';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { HeldDefinitions } from '../../../../../../test/support/held-definitions.js';
import { silentLogger } from '../../../../../../test/support/silent-logger.js';
import { OpenVault } from '../../testing/open-vault.js';
import { McpDriver } from '../mcp-driver.js';
import {
  type Answers,
  MODERN_ANSWERS,
  type ScriptedServer,
  startScriptedServer,
} from '../../../../../../test/support/mcp-server.js';

export const ORG = idOf('org', randomBytes(16));
export const ACTION = idOf('act', randomBytes(16));
export const AGENT = idOf('agt', randomBytes(16));
const CONNECTOR = idOf('con', randomBytes(16));
export const TOKEN = 'canary-token-0123456789';

const cleanups: (() => Promise<void> | void)[] = [];
/** Once in each spec file. */
export const cleanUpAfterEach = (): void => {
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean();
  });
};

export type ReadOutcome = Omit<CallOutcome, 'result'> & { readonly result: JsonValue | null };

export interface GivenMcp {
  readonly answers?: Answers;
  readonly config?: JsonObject;
  readonly settings?: Partial<EgressSettings>;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly store?: EventStore;
  readonly url?: string;
}

/** A process with a memory of its own. */
export interface McpProcess {
  readonly driver: McpDriver;
  refresh(isYoungEnough?: boolean): Promise<ToolsAnswer>;
  /** A call with the connector as the log has it now. */
  send(toolName?: string, args?: JsonObject, changes?: Partial<ConnectorCall>): Promise<ReadOutcome>;
}

export interface McpHarness extends McpProcess {
  readonly server: ScriptedServer;
  readonly vault: OpenVault;
  readonly definitions: HeldDefinitions;
  readonly streams: ConnectorStreams;
  /** As the log has it now. */
  connector(): Promise<LiveConnector>;
  /** Another process on the same log, or this one after a restart: it remembers nothing. */
  another(): McpProcess;
}

/** @returns a harness whose server was asked for its tools once, unless `answers` says that it cannot be */
export const givenMcp = async (given: GivenMcp = {}): Promise<McpHarness> => {
  const harness = await unaskedMcp(given);
  await harness.refresh();
  return harness;
};

export const unaskedMcp = async ({
  answers = MODERN_ANSWERS,
  config = {},
  settings,
  clock = new SystemClock(),
  logger = silentLogger,
  store = new MemoryEventStore(),
  url,
}: GivenMcp = {}): Promise<McpHarness> => {
  const server = await startScriptedServer(answers);
  const vault = new OpenVault();
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  cleanups.push(() => server.close());
  cleanups.push(() => door.close());
  const folded = new FoldedStreams(store);
  const streams = new ConnectorStreams(new CommandRunner(store, folded), folded);
  const definitions = new HeldDefinitions();
  const stored = readConfig('mcp_http', { url: url ?? server.url, ...config }, { isProduction: false });
  await created(streams, stored, vault);
  const connector = () => streams.live({ org: ORG, name: 'srv', connector: null });
  const another = () => processOn({ store, door, vault, definitions, clock, logger, connector });
  return { server, vault, definitions, streams, connector, another, ...another() };
};

interface ProcessParts extends Pick<McpHarness, 'vault' | 'definitions' | 'connector'> {
  readonly store: EventStore;
  readonly door: EgressDoor;
  readonly clock: Clock;
  readonly logger: Logger;
}

const processOn = ({ store, door, vault, definitions, clock, logger, connector }: ProcessParts): McpProcess => {
  const folded = new FoldedStreams(store);
  const streams = new ConnectorStreams(new CommandRunner(store, folded), folded);
  const randomness = new SystemRandomness();
  const recorder = new ToolRecorder(streams, definitions, { clock, randomness });
  const driver = new McpDriver({ door, vault, clock, randomness, logger, recorder });
  const deadline = () => clock.monotonicMs() + 10_000;
  return {
    driver,
    refresh: async (isYoungEnough = false) =>
      driver.refreshTools({
        connector: await connector(),
        deadlineMonotonicMs: deadline(),
        mayStillSend: () => Promise.resolve(null),
        isYoungEnough,
      }),
    send: async (toolName = 'search', args = {}, changes = {}) => {
      const outcome = await driver.send({
        org: ORG,
        action: ACTION,
        agent: AGENT,
        connector: await connector(),
        toolName,
        args,
        attempt: 1,
        traceparent: null,
        deadlineMonotonicMs: deadline(),
        mayStillSend: () => Promise.resolve(null),
        recordProgress: () => Promise.resolve(null),
        ...changes,
      });
      return { ...outcome, result: outcome.result === null ? null : (JSON.parse(outcome.result) as JsonValue) };
    },
  };
};

const created = async (
  streams: ConnectorStreams,
  { config, configHash }: ReturnType<typeof readConfig>,
  vault: OpenVault,
): Promise<void> => {
  const metadata = (commandId: string) => ({
    ...{ org: ORG, actor: OPERATOR, requestId: null, commandId },
    now: timestampOf(Date.now()),
  });
  const data = { org: ORG, connector: CONNECTOR, name: 'srv', type: 'mcp_http' as const, description: null };
  await streams.run(ORG, 'srv', {
    type: 'CreateConnector',
    data: { ...data, config, configHash },
    metadata: metadata('create'),
  });
  const kind = (config['auth'] as { kind: 'bearer' | 'header' | 'none' }).kind;
  if (kind === 'none') return;
  const field = kind === 'bearer' ? 'token' : 'value';
  const stream = `${connectorDecider.category}-${connectorStreamId(ORG, 'srv')}`;
  await vault.put({ org: ORG, object: CONNECTOR, version: 'v1', stream }, new Map([[field, Buffer.from(TOKEN)]]));
  const credential = { kind, fields: [field], hint: null, version: 'v1' };
  await streams.run(ORG, 'srv', {
    type: 'PutCredentials',
    data: { connector: CONNECTOR, credential },
    metadata: metadata('credential'),
  });
};
