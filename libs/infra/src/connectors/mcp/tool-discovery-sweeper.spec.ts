import { describe, expect, it } from 'vitest';

import {
  type ConnectorCommand,
  ConnectorDriver,
  connectorStreamId,
  type ConnectorType,
  type ListedConnector,
  type ListedConnectors,
  type ToolsAnswer,
  type ToolsQuestion,
  ToolDiscoverySweeper,
} from '#libs/domain/connectors';
import { CommandRunner, type DomainEvent, FoldedStreams, idOf, OPERATOR, timestampOf } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { MemoryEventStore } from '#libs/infra/event-store';
import { digestOfJson } from '#libs/crypto';

import { collectingLogger } from '../../../../../test/support/collecting-logger.js';
import { deferred } from '../../../../../test/support/deferred.js';
import { GivenLog, TEST_ORG, testId } from '../../../../../test/support/given-log.js';
import { MODERN_ANSWERS, sendText, TOOL } from '../../../../../test/support/mcp-server.js';
import { cleanUpAfterEach, ORG, TOKEN, unaskedMcp } from './testing/given-mcp.js';

cleanUpAfterEach();

const MINUTE_MS = 60_000;
const GOING_ON = new AbortController().signal;

/** The projection, up to date, of a log that has these. */
class Listed implements ListedConnectors {
  constructor(private readonly pages: readonly (readonly ListedConnector[])[]) {}

  async *active(types: readonly ConnectorType[]) {
    await Promise.resolve();
    if (types.includes('mcp_http')) yield* this.pages;
  }
}

/** Of a process that began just now, with a clock that the test moves. */
const sweeperOver = (
  store: MemoryEventStore,
  driver: ConnectorDriver,
  pages: readonly (readonly ListedConnector[])[],
) => {
  let passedMs = 0;
  const clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
  const registry = { driverOf: (type: ConnectorType) => (type === driver.type ? driver : null) };
  const logger = collectingLogger();
  const sweeper = new ToolDiscoverySweeper(new FoldedStreams(store), new Listed(pages), { registry, clock, logger });
  return {
    logger,
    pass: (minutes: number): void => {
      passedMs += minutes * MINUTE_MS;
    },
    sweep: (signal = GOING_ON) => sweeper.sweep(signal),
  };
};

/** A connector whose process was killed before it asked the server, and a worker. */
const givenUnasked = async (given: Parameters<typeof unaskedMcp>[0] = {}) => {
  const store = new MemoryEventStore();
  const mcp = await unaskedMcp({ ...given, store });
  const page = [{ org: ORG, name: 'srv' }];
  const worker = () => sweeperOver(store, mcp.driver, [page]);
  let commands = 0;
  const metadata = () => ({
    ...{ org: ORG, actor: OPERATOR, requestId: null, commandId: `test-${(commands += 1)}` },
    now: timestampOf(Date.now()),
  });
  return {
    ...mcp,
    ...worker(),
    restarted: worker,
    lists: () => mcp.server.of('tools/list').length,
    change: (command: Omit<ConnectorCommand, 'metadata'>) =>
      mcp.streams.run(ORG, 'srv', { ...command, metadata: metadata() } as ConnectorCommand),
    organization: async (type: 'StopOrganization' | 'StartOrganization') => {
      const runner = new CommandRunner(store, new FoldedStreams(store));
      const [owner, membership] = [idOf('usr', new Uint8Array(16)), idOf('mem', new Uint8Array(16))];
      const data = { org: ORG, name: 'Acme', timezone: 'UTC', owner, membership };
      if ((await store.heads([`org-${ORG}`])).size === 0) {
        const meta = metadata();
        await runner.run(organizationDecider, ORG, { type: 'CreateOrganization', data, metadata: meta }, meta);
      }
      const meta = metadata();
      await runner.run(organizationDecider, ORG, { type, data: { reason: null }, metadata: meta }, meta);
    },
  };
};

describe('a sweep for servers that nobody has asked', () => {
  it('asks the server of a connector whose process never did, and what it lists stands in the log', async () => {
    const { pass, sweep, connector, lists } = await givenUnasked();
    pass(2);
    await sweep();
    expect((await connector()).discovered?.tools.map(({ name }) => name)).toEqual(['search']);
    pass(600);
    await sweep();
    expect(lists()).toBe(1);
  });

  it('leaves a connector to the process that has just changed it', async () => {
    const { pass, sweep, lists } = await givenUnasked();
    await sweep();
    expect(lists()).toBe(0);
    pass(2);
    await sweep();
    expect(lists()).toBe(1);
  });

  it('asks no server whose list the log has', async () => {
    const { pass, sweep, refresh, lists, server } = await givenUnasked();
    await refresh();
    const before = server.requests.length;
    pass(2);
    await sweep();
    expect([lists(), server.requests.length]).toEqual([1, before]);
  });

  it('asks none where the credential is missing that the config asks for', async () => {
    const { pass, sweep, change, server } = await givenUnasked();
    await change({ type: 'RemoveCredentials', data: { connector: null } });
    pass(2);
    await sweep();
    expect(server.requests).toEqual([]);
  });

  it('asks with a credential that was stored after the last list, once where the server lists the same', async () => {
    const { pass, sweep, refresh, lists, change, vault, connector, server, restarted } = await givenUnasked();
    await refresh();
    const { id } = await connector();
    const stored = { org: ORG, object: id, version: 'v2', stream: `connector-${ORG}-srv` };
    await vault.put(stored, new Map([['token', Buffer.from(`${TOKEN}-2`)]]));
    const credential = { kind: 'bearer' as const, fields: ['token'], hint: null, version: 'v2' };
    await change({ type: 'PutCredentials', data: { connector: null, credential } });
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      pass(90);
      await sweep();
    }
    expect(lists()).toBe(2);
    expect(server.of('tools/list').at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}-2`);
    // Another process cannot know.
    const other = restarted();
    other.pass(2);
    await other.sweep();
    await other.sweep();
    expect(lists()).toBe(3);
  });

  it('asks where the address has changed since the last list', async () => {
    const { pass, sweep, refresh, change, connector, server } = await givenUnasked();
    await refresh();
    const config = { ...(await connector()).config, url: server.url.replace('tenant=1', 'tenant=2') };
    await change({
      type: 'UpdateConnector',
      data: { connector: null, config: { config, configHash: digestOfJson(config) } },
    });
    pass(2);
    await sweep();
    expect(server.of('tools/list').map(({ target }) => target)).toEqual(['/mcp?tenant=1', '/mcp?tenant=2']);
  });

  it('asks no server of a disabled connector, until it is enabled', async () => {
    const { pass, sweep, change, server, lists } = await givenUnasked();
    await change({ type: 'UpdateConnector', data: { connector: null, status: 'disabled' } });
    pass(2);
    await sweep();
    expect(server.requests).toEqual([]);
    await change({ type: 'UpdateConnector', data: { connector: null, status: 'active' } });
    pass(2);
    await sweep();
    expect(lists()).toBe(1);
  });

  it('asks nobody for an organization that is stopped, and does so when it is started', async () => {
    const { pass, sweep, organization, server, lists } = await givenUnasked();
    await organization('StopOrganization');
    pass(2);
    await sweep();
    expect(server.requests).toEqual([]);
    await organization('StartOrganization');
    await sweep();
    expect(lists()).toBe(1);
  });

  it('a Stop that comes while it connects holds the question back', async () => {
    const { pass, sweep, organization, server, driver } = await givenUnasked();
    const ask = driver.refreshTools.bind(driver);
    driver.refreshTools = async (question) => {
      await organization('StopOrganization');
      return ask(question);
    };
    pass(2);
    await sweep();
    expect(server.requests).toEqual([]);
  });

  it('asks nobody once it is ended', async () => {
    const { pass, sweep, server } = await givenUnasked();
    pass(2);
    await sweep(AbortSignal.abort());
    expect(server.requests).toEqual([]);
  });
});

describe('a server that does not answer', () => {
  const FAILING = {
    ...MODERN_ANSWERS,
    'server/discover': (request: Parameters<typeof sendText>[0]) => sendText(request, 503),
  };

  it('is asked again after five minutes, then ten, twenty, forty and sixty, until it answers', async () => {
    const { pass, sweep, server, connector } = await givenUnasked({ answers: FAILING });
    const asked: number[] = [];
    for (let minute = 1; minute <= 140; minute += 1) {
      pass(1);
      const before = server.requests.length;
      await sweep();
      if (server.requests.length > before) asked.push(minute);
    }
    expect(asked.slice(1).map((minute, index) => minute - (asked[index] as number))).toEqual([5, 10, 20, 40, 60]);
    server.set(MODERN_ANSWERS);
    pass(60);
    await sweep();
    expect((await connector()).discovered?.tools).toHaveLength(1);
  });

  it('is asked at once after a change by which it may answer', async () => {
    const { pass, sweep, server, connector, change } = await givenUnasked({ answers: FAILING });
    pass(2);
    await sweep();
    server.set(MODERN_ANSWERS);
    await sweep();
    expect((await connector()).discovered).toBeUndefined();
    const config = { ...(await connector()).config, timeout_ms: 1_000 };
    await change({
      type: 'UpdateConnector',
      data: { connector: null, config: { config, configHash: digestOfJson(config) } },
    });
    pass(1);
    await sweep();
    expect((await connector()).discovered?.tools).toHaveLength(1);
  });

  it('that lists more than can be recorded is one that did not answer', async () => {
    const { pass, sweep, refresh, server, connector, change, lists } = await givenUnasked({
      config: { tools_ttl_ms: 0 },
    });
    for (let number = 0; number < 11; number += 1) {
      server.set({ 'tools/list': () => ({ tools: [{ ...TOOL, description: `number ${number}` }] }) });
      await refresh();
    }
    const config = { ...(await connector()).config, timeout_ms: 1_000 };
    await change({
      type: 'UpdateConnector',
      data: { connector: null, config: { config, configHash: digestOfJson(config) } },
    });
    pass(2);
    const before = lists();
    for (let sweeps = 0; sweeps < 6; sweeps += 1) {
      pass(1);
      await sweep();
    }
    expect(lists() - before).toBe(2);
  });
});

/** A driver whose servers answer when the test says so. */
class SlowDriver extends ConnectorDriver {
  override readonly type = 'mcp_http';
  readonly asked: string[] = [];
  readonly waiting: ((answer: ToolsAnswer) => void)[] = [];

  override refreshTools({ connector }: ToolsQuestion): Promise<ToolsAnswer> {
    this.asked.push(connector.name);
    const answer = deferred<ToolsAnswer>();
    this.waiting.push((said) => answer.resolve(said));
    return answer.promise;
  }

  override toolOf(): null {
    return null;
  }

  override toolsOf(): [] {
    return [];
  }

  override requestFacts(): object {
    return {};
  }

  override send(): Promise<never> {
    return Promise.reject(new Error('nothing is called'));
  }
}

const SILENT: ToolsAnswer = { ok: false, errorCode: 'timeout', errorMessage: 'no answer' };
const LISTED: ToolsAnswer = { ok: true, discovered: null, whyUnrecorded: null };

describe('the servers of many connectors', () => {
  const config = { url: 'https://mcp.example.com', auth: { kind: 'none' } };
  const createdAs = (number: number): DomainEvent => ({
    type: 'ConnectorCreated',
    data: {
      ...{ org: TEST_ORG, connector: testId('con', number), name: `c${number}`, type: 'mcp_http', description: null },
      ...{ config, config_hash: digestOfJson(config), at: '2026-10-01T12:00:00.000Z' },
    },
  });
  const givenMany = async (count: number) => {
    const store = new MemoryEventStore();
    const log = new GivenLog(store);
    const names = Array.from({ length: count }, (_, number) => `c${number}`);
    for (const [number, name] of names.entries()) {
      await log.append(`connector-${connectorStreamId(TEST_ORG, name)}`, createdAs(number));
    }
    const driver = new SlowDriver();
    const page = names.map((name) => ({ org: TEST_ORG, name }));
    return { driver, log, store, page, ...sweeperOver(store, driver, [page.slice(0, 3), page.slice(3)]) };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Answers whoever is asked until the sweep is over. */
  const answered = async (sweep: Promise<void>, driver: SlowDriver, said: ToolsAnswer) => {
    let isOver = false;
    const ended = sweep.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const answer of driver.waiting.splice(0)) answer(said);
      await turn();
    }
    await ended;
  };

  it('are asked four at a time, each once', async () => {
    const { driver, sweep } = await givenMany(9);
    const sweeping = sweep();
    while (driver.asked.length < 4) await turn();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(driver.asked).toHaveLength(4);
    await answered(sweeping, driver, LISTED);
    expect(driver.asked.toSorted()).toEqual(Array.from({ length: 9 }, (_, number) => `c${number}`));
  });

  it('are asked for a minute in one sweep: the next one begins with those that failed least often', async () => {
    const { driver, sweep, pass } = await givenMany(6);
    const sweeping = sweep();
    while (driver.asked.length < 4) await turn();
    pass(2);
    await answered(sweeping, driver, SILENT);
    expect(driver.asked).toHaveLength(4);
    pass(10);
    const failed = driver.asked.splice(0);
    await answered(sweep(), driver, LISTED);
    expect(driver.asked).toHaveLength(6);
    const fresh = driver.asked.filter((name) => !failed.includes(name));
    expect(fresh).toHaveLength(2);
    expect(driver.asked.slice(0, 4)).toEqual(expect.arrayContaining(fresh));
  });

  it('are asked although one connector cannot be read', async () => {
    const { driver, log, sweep, logger } = await givenMany(4);
    await log.append(`connector-${connectorStreamId(TEST_ORG, 'c1')}`, { type: 'ConnectorRenamed', data: {} });
    await answered(sweep(), driver, LISTED);
    expect(driver.asked.toSorted()).toEqual(['c0', 'c2', 'c3']);
    expect(logger.warnings).toMatchObject([{ stream: `connector-${TEST_ORG}-c1` }]);
  });

  it('are asked although a driver fails with one of them', async () => {
    const { driver, sweep, logger } = await givenMany(3);
    const ask = driver.refreshTools.bind(driver);
    driver.refreshTools = (question) =>
      question.connector.name === 'c0' ? Promise.reject(new Error('a fault of its own')) : ask(question);
    await answered(sweep(), driver, LISTED);
    expect(driver.asked.toSorted()).toEqual(['c1', 'c2']);
    expect(logger.errors).toHaveLength(1);
  });
});
