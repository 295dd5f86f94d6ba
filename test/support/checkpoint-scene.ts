import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Checkpoint, type Digest, leafHash, parseCheckpoint, parseSignedNote, rootOf } from '#libs/crypto';
import {
  CommandRunner,
  decodeEvent,
  type Failpoint,
  FoldedStreams,
  OPERATOR,
  type OrgId,
  placeFailpoints,
  streamOf,
} from '#libs/domain/kernel';
import type { CheckpointEvent, LedgerBreaks, LedgerEvent, SignedTreeRows } from '#libs/domain/ledger';
import { organizationDecider } from '#libs/domain/people';
import { checkpointsOf, type CheckpointParts, ledgerBreaksOf } from '#libs/infra/deployment';
import { PostgresEventStore } from '#libs/infra/event-store';
import { EgressDoor } from '#libs/infra/egress';
import { SystemRandomness } from '#libs/infra/runtime';
import { VaultCipher } from '#libs/infra/vault';
import { TransactionalStoreWithFailpoints } from '../../libs/infra/src/event-store/event-store-with-failpoints.js';
import { collectingLogger } from './collecting-logger.js';
import { createWholeDatabase, type TestDatabase } from './database.js';
import { deferred } from './deferred.js';
import { testId } from './given-log.js';
import { metadataAt } from './given.js';
import { LedgerBench, newOrg } from './ledger-fixtures.js';

/** What a process has that makes checkpoints: connections and caches of its own. */
export interface CheckpointProcess extends CheckpointParts {
  readonly store: PostgresEventStore;
  readonly breaks: LedgerBreaks;
  make(org: OrgId): ReturnType<CheckpointParts['maker']['make']>;
}

/** For proofs in the newest tree alone. */
export const NO_OTHER_TREES: SignedTreeRows = {
  ofSize: () => Promise.resolve(null),
  cosignatures: () => Promise.resolve([]),
  witnessedSize: () => Promise.resolve(null),
};

export interface Backup {
  readonly deeds: number;
  readonly checkpoints: number;
}

/** A log with ledgers on a PostgreSQL of their own, and any number of processes that sign their trees. */
export class CheckpointScene {
  bench: LedgerBench;
  private readonly cipher = new VaultCipher(randomBytes(32), new SystemRandomness());
  private readonly stores: PostgresEventStore[] = [];
  private readonly benchStores: PostgresEventStore[] = [];
  readonly logger = collectingLogger();
  readonly door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
  });
  private commands = 0;

  private constructor(
    private readonly database: TestDatabase,
    readonly pool: pg.Pool,
    private readonly store: PostgresEventStore,
    /** Of the machine on which the processes run. */
    readonly stateDir: string,
  ) {
    this.bench = new LedgerBench(store);
  }

  static async start(): Promise<CheckpointScene> {
    const database = await createWholeDatabase();
    const pool = new pg.Pool({ connectionString: database.connectionString, max: 4 });
    pool.on('error', () => undefined);
    const scene = new CheckpointScene(database, pool, storeOf(database), await mkdtemp(join(tmpdir(), 'checkpoints-')));
    await scene.bench.activateKey();
    return scene;
  }

  get connectionString(): string {
    return this.database.connectionString;
  }

  async close(): Promise<void> {
    await this.endProcesses();
    for (const store of [this.store, ...this.benchStores]) await store.close();
    this.door.close();
    await this.pool.end();
    await this.database.drop();
    await rm(this.stateDir, { recursive: true });
  }

  /** For tests that begin many: each has connections of its own. */
  async endProcesses(): Promise<void> {
    for (const store of this.stores.splice(0)) await store.close();
  }

  /** @param stateDir of another machine */
  process(baseUrl = 'https://governance.example', stateDir = this.stateDir): CheckpointProcess {
    const store = storeOf(this.database);
    this.stores.push(store);
    const met = new TransactionalStoreWithFailpoints(store);
    const streams = new FoldedStreams(met);
    const parts = checkpointsOf({
      database: { store: met, durable: this.pool },
      secrets: { cipher: this.cipher },
      runner: new CommandRunner(met, streams),
      streams,
      clock: this.bench.clock,
      randomness: new SystemRandomness(),
      logger: this.logger,
      config: { env: 'dev', stateDir },
      baseUrl,
      egress: this.door,
    });
    const config = { stateDir, baseUrl, host: '127.0.0.1', port: 8080 };
    const { breaks } = ledgerBreaksOf(met, this.pool, config, this.logger);
    return { ...parts, store, breaks, make: (org) => parts.maker.make(org, this.metadata(org)) };
  }

  metadata(org: OrgId | null) {
    this.commands += 1;
    const now = new Date(this.bench.clock.ms).toISOString();
    return { ...metadataAt(now), org, actor: OPERATOR, commandId: `checkpoint ${this.commands}` };
  }

  /** An organization with so many deeds. */
  async organization(deeds = 1): Promise<OrgId> {
    const org = newOrg();
    const data = { org, name: 'Test', timezone: 'UTC', owner: testId('usr', 1), membership: testId('mem', 1) };
    const metadata = this.metadata(org);
    await this.bench.runner.run(organizationDecider, org, { type: 'CreateOrganization', data, metadata }, metadata);
    await this.deeds(org, deeds - 1);
    return org;
  }

  /** So many deeds more, and those of what was recorded meanwhile. */
  async deeds(org: OrgId, count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) await this.bench.recordAction(org);
    await this.bench.feed(this.bench.sealer(), await this.bench.log());
  }

  /** Written out from RFC 6962, from the ledger's rows alone. */
  async leavesOf(org: OrgId): Promise<readonly Uint8Array[]> {
    const deeds = await this.bench.ledgerOf(org);
    return deeds.map((event) => leafHash(bytesOf(decodeEvent<LedgerEvent>(event).event.data.body_hash)));
  }

  async rootOf(org: OrgId, size: number): Promise<Uint8Array> {
    return rootOf((await this.leavesOf(org)).slice(0, size));
  }

  async events(org: OrgId): Promise<readonly CheckpointEvent[]> {
    const recorded = await this.store.readStream(streamOf('checkpoints', org));
    return recorded.map((event) => decodeEvent<CheckpointEvent>(event).event);
  }

  async sizes(org: OrgId): Promise<readonly number[]> {
    return (await this.events(org)).flatMap((event) => (event.type === 'CheckpointMade' ? [event.data.size] : []));
  }

  /** As when an older backup was put back under a living organization: its newest deeds are gone. */
  async cutLedger(org: OrgId, size: number): Promise<void> {
    await this.pool.query(`delete from event_store.events where stream = $1 and revision >= $2`, [
      `ledger-${org}`,
      size,
    ]);
    this.bench.heads.rows.clear();
    // What is sealed again is sealed later, so it is another deed.
    this.bench.clock.ms += 1_000;
  }

  /** What a whole backup of the database has: deeds and checkpoints. */
  async backUp(org: OrgId): Promise<Backup> {
    return { deeds: (await this.bench.ledgerOf(org)).length, checkpoints: (await this.events(org)).length };
  }

  /** As when that backup is put back: nothing in the database knows of what came later. */
  async restore(org: OrgId, { deeds, checkpoints }: Backup): Promise<void> {
    await this.cutLedger(org, deeds);
    await this.pool.query(`delete from event_store.events where stream = $1 and revision >= $2`, [
      `checkpoints-${org}`,
      checkpoints,
    ]);
    // What remembers what it read of the database ended with it.
    const { clock, keys, heads } = this.bench;
    const store = storeOf(this.database);
    this.benchStores.push(store);
    this.bench = new LedgerBench(store, keys, heads);
    this.bench.clock.ms = clock.ms;
    for (const table of ['tiles', 'frontiers', 'broken_ledgers']) {
      await this.pool.query(`delete from ledger.${table} where org = $1`, [org]);
    }
  }

  /** What a process does until it meets the point, and nothing after it. */
  async killedAt(point: Failpoint, work: () => Promise<unknown>): Promise<void> {
    const met = deferred();
    placeFailpoints({
      isArmed: (name) => name === point,
      hit: (name) => {
        if (name !== point) return Promise.resolve();
        met.resolve();
        return new Promise(() => undefined);
      },
    });
    void work().catch(() => undefined);
    await met.promise;
    placeFailpoints(null);
  }
}

const storeOf = ({ connectionString }: TestDatabase): PostgresEventStore =>
  new PostgresEventStore({ connectionString, applicationName: 'checkpoints', onConnectionLost: () => undefined });

const bytesOf = (digest: Digest): Uint8Array => Buffer.from(digest.slice('sha256:'.length), 'hex');

export const checkpointIn = (note: string): Checkpoint => parseCheckpoint(parseSignedNote(Buffer.from(note)).text);
