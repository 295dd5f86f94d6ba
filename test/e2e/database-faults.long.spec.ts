import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EMBEDDED_DATABASE } from '#libs/infra/config';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { withStartLock } from '../../libs/infra/src/postgres/start-lock.js';
import { setStage, type ChaosStage } from '../chaos/chaos-stage.js';
import { CHAOS_SETTINGS, ChaosScene } from '../chaos/chaos-scene.js';
import { violationsIn } from '../chaos/checker.js';
import { effectOf, startOracle } from '../chaos/oracle.js';
import { connectCrm } from '../support/crm.js';
import { postmasterPidIn } from '../support/own-server.js';
import { removeStateDir, startService } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { canMount, mountSmallDisk } from '../support/small-disk.js';
import { takeAllConnections } from '../support/taken-connections.js';

const DEADLINE_MS = 180_000;
const REST_LIMIT_MS = 15_000;
const HOUR_MS = 3_600_000;
const WAITED = { timeout: 20_000, interval: 50 };
const SHIFTED_CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;

let stage: ChaosStage | null = null;
let sent = 0;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

/** A write under a key of its own, or the one given. */
const write = async ({ scene }: ChaosStage, effect = effectOf('ok', 0, String((sent += 1))), characters = 10) => {
  const body = { tool: 'crm.add_note', args: { id: effect, text: 'x'.repeat(characters) }, wait: 10 };
  const [caller = null] = scene.agents;
  const { answer } = await scene.log.call('POST', '/v1/actions', { caller, idempotencyKey: `key-${effect}`, body });
  return { effect, characters, answer };
};

const UNAVAILABLE = { status: 503, json: { error: { code: 'service_unavailable' } } };
const SEALED = { status: 200, json: { state: 'sealed', execution: { status: 'succeeded' } } };

/** Everything that must hold, once the fault is over. */
const expectIntact = async ({ scene }: ChaosStage): Promise<void> => {
  await scene.untilWell(performance.now());
  scene.markFaults(false);
  expect(violationsIn(await scene.gather({ isRebuilt: true }))).toEqual([]);
};

describe.skipIf(!canMount)('a disk that is full (where a small one can be mounted: root, with CAP_SYS_ADMIN)', () => {
  it(
    'records and runs nothing more, is still read, and goes on when there is room',
    async () => {
      const disk = await mountSmallDisk();
      const stateDir = join(disk.folder, 'state');
      try {
        stage = await setStage({ restLimitMs: REST_LIMIT_MS, stateDir });
        const { scene } = stage;
        const first = await write(stage);
        expect(first.answer).toMatchObject(SEALED);
        scene.markFaults(true);
        await disk.fill();
        const refused = await writeUntilRefused(stage);
        expect(refused.answer).toMatchObject(UNAVAILABLE);
        expect(scene.oracle.requests.filter(({ effect }) => effect === refused.effect)).toEqual([]);
        await vi.waitFor(async () => expect(await healthOf(scene)).toMatchObject(FULL), WAITED);
        const [caller = null] = scene.agents;
        const read = await scene.log.call('GET', `/v1/actions/${String(first.answer?.json['id'])}`, { caller });
        expect(read.answer).toMatchObject(SEALED);
        await disk.empty();
        // What was accepted before is sealed from here on: it waited for room, and nothing else.
        await scene.recovered(performance.now());
        // By itself, where nobody calls meanwhile: a load balancer sends no call to who is down.
        await vi.waitFor(async () => expect(await healthOf(scene)).toMatchObject(WELL), WAITED);
        const again = await write(stage, refused.effect, refused.characters);
        expect(again.answer).toMatchObject({ status: 200, json: { state: 'sealed' } });
        await expectIntact(stage);
      } finally {
        // Where there is no room, nobody can let go of the database.
        await disk.empty();
        await stage?.close();
        stage = null;
        await removeStateDir(stateDir);
        await disk.remove();
      }
    },
    DEADLINE_MS,
  );

  /** PostgreSQL itself may end of it. */
  const FULL = { status: 503, health: 'down', event_store: 'down', disk: 'degraded' };
  const WELL = { status: 200, health: 'ok', event_store: 'ok', disk: 'ok' };

  const healthOf = async ({ log }: ChaosScene) => {
    const { answer } = await log.call('GET', '/v1/health', { caller: null });
    return { status: answer?.status, health: answer?.json['status'], ...(answer?.json['checks'] as object) };
  };

  /** What the database still has room for is recorded as ever. */
  const writeUntilRefused = async (running: ChaosStage) => {
    for (let count = 0; count < 200; count += 1) {
      const written = await write(running, undefined, 60_000);
      if (written.answer?.status === 503) return written;
    }
    throw new Error('the disk is full, and everything is recorded');
  };
});

describe('a PostgreSQL whose connections others have taken', () => {
  it(
    'answers 503 meanwhile, and goes on by itself when they are free',
    async () => {
      stage = await setStage({ restLimitMs: REST_LIMIT_MS });
      const { scene, connectionString } = stage;
      expect((await write(stage)).answer).toMatchObject(SEALED);
      scene.markFaults(true);
      const giveBack = await takeAllConnections(connectionString);
      const refused = await write(stage);
      expect(refused.answer).toMatchObject({
        ...UNAVAILABLE,
        headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      });
      expect(scene.oracle.requests.filter(({ effect }) => effect === refused.effect)).toEqual([]);
      await giveBack();
      await scene.recovered(performance.now());
      expect((await write(stage, refused.effect, refused.characters)).answer).toMatchObject({
        json: { state: 'sealed' },
      });
      await expectIntact(stage);
    },
    DEADLINE_MS,
  );
});

/** Nobody starts PostgreSQL on this state directory meanwhile, as where another process is about to start or stop it. */
const whileNobodyStarts = <Result>(stateDir: string, work: () => Promise<Result>): Promise<Result> =>
  withStartLock(join(stateDir, 'postgres.lock'), work);

/** A stage on which nobody but the service holds its PostgreSQL. */
const setLoneStage = async (): Promise<ChaosStage> => {
  const oracle = await startOracle();
  const service = await startService({ env: CHAOS_SETTINGS });
  // A write that is held must outlast what is done to the database meanwhile.
  await connectCrm(service, oracle.baseUrl, { timeoutMs: 60_000 });
  const server = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
  const connectionString = server.connectionString(EMBEDDED_DATABASE);
  await server.release();
  const place = { connectionString, eventStoreUrl: null };
  return {
    scene: new ChaosScene(service, oracle, { place, folders: [service.stateDir], restLimitMs: REST_LIMIT_MS }),
    connectionString,
    close: async () => {
      await service.stop();
      await oracle.close();
    },
  };
};

describe('the PostgreSQL of a service, which runs on', () => {
  it.each([
    ['is killed', 'SIGKILL'],
    ['is stopped', 'SIGINT'],
  ] as const)(
    '%s: callers get 503 until the service has started it again, and every outcome is recorded once',
    async (_title, signal) => {
      stage = await setLoneStage();
      const { scene } = stage;
      const { stateDir, pid } = scene.service;
      const [running, postmaster] = [stage, postmasterPidIn(stateDir)];
      expect((await write(running)).answer).toMatchObject(SEALED);
      scene.markFaults(true);
      const reached = scene.oracle.holdNextWrite();
      const effect = effectOf('ok', 0, 'underway');
      const underWay = write(running, effect);
      await reached;
      const refused = await whileNobodyStarts(stateDir, async () => {
        process.kill(postmaster, signal);
        await vi.waitFor(async () => {
          const { answer } = await scene.log.call('GET', '/v1/health', { caller: null });
          expect(answer).toMatchObject({ status: 503, json: { status: 'down' } });
        }, WAITED);
        // What the upstream says comes while nobody can write it down.
        scene.oracle.holdNothing();
        const meanwhile = await write(running);
        expect(meanwhile.answer).toMatchObject({
          ...UNAVAILABLE,
          headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
        });
        return meanwhile;
      });
      await scene.recovered(performance.now());
      expect([scene.service.pid, postmasterPidIn(stateDir) === postmaster]).toEqual([pid, false]);
      expect([200, 503]).toContain((await underWay).answer?.status);
      for (const { effect: again, characters } of [refused, { effect, characters: 10 }]) {
        expect((await write(running, again, characters)).answer).toMatchObject(SEALED);
        expect(scene.oracle.requests.filter((request) => request.effect === again)).toHaveLength(1);
      }
      await expectIntact(running);
    },
    DEADLINE_MS,
  );
});

describe('a clock that is set back while the service runs', () => {
  it(
    'changes nothing for callers, and no deed is dated before the one it follows',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ags-clock-'));
      await chmod(folder, 0o711);
      const file = join(folder, 'shift');
      await writeFile(file, '0');
      const env = { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, CLOCK_SHIFT_FILE: file };
      const running = await setStage({ restLimitMs: REST_LIMIT_MS, env });
      stage = running;
      const { scene } = running;
      const before = await write(running);
      expect(before.answer).toMatchObject(SEALED);
      await writeFile(file, String(-HOUR_MS));
      await vi.waitFor(async () => {
        const { answer } = await write(running);
        expect(answer).toMatchObject(SEALED);
        expect(Date.parse(String(answer?.json['created_at']))).toBeLessThan(Date.now() - HOUR_MS / 2);
      }, WAITED);
      const replayed = await write(running, before.effect, before.characters);
      expect(replayed.answer).toMatchObject({ headers: { 'service-idempotent-replayed': 'true' }, ...SEALED });
      await writeFile(file, '0');
      expect((await write(running)).answer).toMatchObject(SEALED);
      const evidence = await scene.gather({ isRebuilt: true });
      expect(violationsIn(evidence)).toEqual([]);
      const dates = evidence.events
        .filter(({ type }) => type === 'DeedSealed')
        .map(({ data }) => String(data['issued_at']));
      expect(dates).toEqual(dates.toSorted());
      const accepted = evidence.events
        .filter(({ type }) => type === 'ActionSubmitted')
        .map(({ data }) => String(data['at']));
      expect(accepted).not.toEqual(accepted.toSorted());
      await rm(folder, { recursive: true });
    },
    DEADLINE_MS,
  );
});
