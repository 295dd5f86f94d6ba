import { setTimeout as delay } from 'node:timers/promises';
import { ensureDatabase } from '#libs/infra/postgres';
import { connectCrm } from '../support/crm.js';
import { startKurrent, type KurrentUnderTest } from '../support/kurrent-under-test.js';
import { startOwnServer, type OwnServer } from '../support/own-server.js';
import { hasRedisServer, RedisServer } from '../support/redis-server.js';
import { silentLogger } from '../support/silent-logger.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ChaosFleet } from './chaos-fleet.js';
import { ChaosScene, FLEET_SETTINGS, type SceneOptions, REST_LIMIT_MS } from './chaos-scene.js';
import { violationsIn, type Violation } from './checker.js';
import type { ClientCall, Evidence } from './evidence.js';
import { startOracle, type Oracle } from './oracle.js';
import { chanceOf } from './random.js';
import { Traffic } from './traffic.js';

const DATABASE = 'service';
const PROCESSES_EACH = 2;
const CALLS_PER_ROUND = 6;
const BETWEEN_ROUNDS_MS = 200;

/** What processes stand on, each of it reached through a proxy. */
export interface Surroundings {
  /** The one that the proxy leads to. */
  database: OwnServer;
  readonly eventStore: KurrentUnderTest;
  /** Null where this machine has none: each process then wakes itself. */
  readonly redis: RedisServer | null;
  readonly oracle: Oracle;
  readonly to: {
    readonly database: TcpProxy;
    readonly eventStore: TcpProxy;
    readonly redis: TcpProxy | null;
    readonly upstream: TcpProxy;
  };
}

/** One fault, and what was seen of it. */
export interface FaultReport {
  readonly evidence: Evidence;
  readonly violations: readonly Violation[];
  /** Calls that a fault may have met, in the order in which they were sent. */
  readonly met: readonly ClientCall[];
  /** From the end of the fault until health said `ok` everywhere. */
  readonly recoveredMs: number;
}

/** Several of each program on stores of their own, under load, for one fault after the other. */
export class FaultStage {
  private constructor(
    readonly fleet: ChaosFleet,
    readonly on: Surroundings,
    private readonly closing: (() => Promise<unknown>)[],
  ) {}

  static async set(): Promise<FaultStage> {
    const closing: (() => Promise<unknown>)[] = [];
    try {
      const on = await surroundings((close) => closing.unshift(close));
      const fleet = await ChaosFleet.start(settingsOf(on), PROCESSES_EACH);
      closing.unshift(() => fleet.stop());
      const upstreamUrl = on.to.upstream.through(on.oracle.baseUrl).replace(/\/$/, '');
      await connectCrm(fleet, upstreamUrl);
      return new FaultStage(fleet, on, closing);
    } catch (error) {
      await closeAll(closing);
      throw error;
    }
  }

  async close(): Promise<void> {
    await closeAll(this.closing);
  }

  /** After everything that stands on it. */
  afterClosing(close: () => Promise<unknown>): void {
    this.closing.push(close);
  }

  /** Where it is now. */
  get connectionString(): string {
    return this.on.database.connectionString(DATABASE);
  }

  /** Everybody comes to that PostgreSQL from now on: the one of before again, wherever it is now, or another. */
  leadToDatabase(database: OwnServer): void {
    this.on.database = database;
    this.on.to.database.leadTo(this.connectionString);
  }

  /**
   * Calls go on all the while, and after it until everything was answered; then the checker judges all that there is.
   * @param seed what is called
   * @param fault ends when nothing is wrong any more
   * @param isRebuilt whether projections are made anew before they are judged, which takes a second or two
   */
  async under(
    seed: number,
    fault: (scene: ChaosScene) => Promise<unknown>,
    { isRebuilt = false }: { isRebuilt?: boolean } = {},
  ): Promise<FaultReport> {
    const scene = new ChaosScene(this.fleet, this.on.oracle, this.sceneOptions());
    await scene.signLedger();
    const traffic = new Traffic(scene, chanceOf(seed));
    scene.markFaults(true);
    const over = new AbortController();
    const load = this.load(traffic, over.signal);
    await fault(scene).finally(() => over.abort());
    const endedMs = performance.now();
    await this.fleet.startMissing();
    const recoveredMs = await scene.recovered(endedMs);
    await load;
    const met = [...scene.log.calls];
    await scene.untilWell(performance.now());
    scene.markFaults(false);
    await traffic.round(CALLS_PER_ROUND);
    await traffic.settle();
    const evidence = await scene.gather({ isRebuilt });
    return { evidence, violations: violationsIn(evidence), met, recoveredMs };
  }

  /** By way of the proxy: the database may be another one when the fault is over. */
  private sceneOptions(): SceneOptions {
    const { to, database, eventStore } = this.on;
    const connectionString = to.database.through(database.connectionString(DATABASE));
    return {
      place: { connectionString, eventStoreUrl: eventStore.url },
      folders: [this.fleet.folder, database.stateDir],
      restLimitMs: REST_LIMIT_MS,
    };
  }

  private async load(traffic: Traffic, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await delay(BETWEEN_ROUNDS_MS)) await traffic.round(CALLS_PER_ROUND);
  }
}

const settingsOf = ({ database, eventStore, redis, to }: Surroundings): Readonly<Record<string, string>> => ({
  ...FLEET_SETTINGS,
  DATABASE_URL: to.database.through(database.connectionString(DATABASE)),
  EVENT_STORE_URL: to.eventStore.through(eventStore.url),
  ...(redis && to.redis && { REDIS_URL: to.redis.through(redis.url) }),
});

const surroundings = async (onClose: (close: () => Promise<unknown>) => void): Promise<Surroundings> => {
  const proxied = async (address: string): Promise<TcpProxy> => {
    const proxy = await startTcpProxy(address);
    onClose(() => proxy.close());
    return proxy;
  };
  const database = await startOwnServer();
  onClose(() => database.dispose());
  const eventStore = await startKurrent();
  onClose(() => eventStore.close());
  const redis = hasRedisServer() ? await RedisServer.start() : null;
  onClose(() => redis?.stop() ?? Promise.resolve());
  const oracle = await startOracle();
  onClose(() => oracle.close());
  await ensureDatabase(database.connectionString(DATABASE), silentLogger);
  const to = {
    database: await proxied(database.connectionString(DATABASE)),
    eventStore: await proxied(eventStore.url),
    redis: redis && (await proxied(redis.url)),
    upstream: await proxied(oracle.baseUrl),
  };
  return { database, eventStore, redis, oracle, to };
};

const closeAll = async (closing: readonly (() => Promise<unknown>)[]): Promise<void> => {
  for (const close of closing) await close();
};
