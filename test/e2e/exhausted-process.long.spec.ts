import { afterEach, describe, expect, it, vi } from 'vitest';
import { CHAOS_SETTINGS, FLEET_SETTINGS } from '../chaos/chaos-scene.js';
import { effectOf, startOracle, type Oracle } from '../chaos/oracle.js';
import { openSocketsTo } from '../http/malformed-requests/held-sockets.js';
import { errorOf, RawConnection, type RawAnswer } from '../http/raw-http.js';
import { connectCrm } from '../support/crm.js';
import { createTestDatabase } from '../support/database.js';
import { endAllSessions } from '../support/ended-sessions.js';
import { residentBytes } from '../support/process-memory.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, startService, temporaryStateDir, type RunningService } from '../support/service.js';

const DEADLINE_MS = 120_000;
const WAITED = { timeout: 30_000, interval: 50 };
const OPEN_FILES = 256;
/** INV-16: when a fault has ended, every action is sealed within two sweeps of 5 s and some slack, and nothing needs a human. */
const RECOVERY_MS = 12_000;
/** Files and sockets are what is used up: it was 10 to 14 MiB in seven runs. */
const MAX_GROWTH_BYTES = 64 * 1_048_576;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const bodyOf = (effect: string, text = 'a note') => ({ tool: 'crm.add_note', args: { id: effect, text }, wait: 25 });
const keyOf = (effect: string): string => `key-${effect}`;
const sentFor = ({ requests }: Oracle, effect: string): number =>
  requests.filter((request) => request.effect === effect).length;

/** A write; null where the connection broke without an answer. */
const write = (service: RunningService, key: string, effect: string, text?: string) =>
  service
    .call('POST', '/v1/actions', { key, body: bodyOf(effect, text), headers: { 'Idempotency-Key': keyOf(effect) } })
    .catch((error: unknown) => {
      if (error instanceof TypeError) return null;
      throw error;
    });

const ofStatus = (status: string) => ({ status: 200, json: { state: 'sealed', execution: { status } } });

const countsOf = (texts: readonly string[]): string =>
  [...new Set(texts)].map((text) => `${texts.filter((each) => each === text).length} ${text}`).join('; ');

const expectSealedOnce = async (service: RunningService): Promise<void> => {
  const audit = await runAgs(['audit', '--json'], { env: service.environment });
  expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
};

describe('a service that has as many files and sockets open as it may', () => {
  /** Connections that a service keeps, each after an answer, up to the first that it ends without one. */
  const openAll = async (port: number, kept: RawConnection[]): Promise<void> => {
    for (;;) {
      const connection = await RawConnection.open(port);
      connection.send('GET /none HTTP/1.1\r\nHost: service\r\n\r\n');
      const answer = await connection.answer().catch(() => null);
      if (answer === null) return;
      expect(answer.status).toBe(404);
      kept.push(connection);
    }
  };

  const ask = (connection: RawConnection, key: string, effect: string): Promise<RawAnswer> => {
    connection.send(requestFor(key, effect));
    return connection.answer();
  };

  const requestFor = (key: string, effect: string): string => {
    const body = JSON.stringify(bodyOf(effect));
    return [
      ...['POST /v1/actions HTTP/1.1', 'Host: service', `Authorization: Bearer ${key}`],
      ...[`Idempotency-Key: ${keyOf(effect)}`, 'Content-Type: application/json', `Content-Length: ${body.length}`],
      ...['', body],
    ].join('\r\n');
  };

  const begin = async () => {
    const database = await createTestDatabase();
    cleanups.push(() => database.drop());
    const oracle = await startOracle();
    cleanups.push(() => oracle.close());
    const env = { ...CHAOS_SETTINGS, DATABASE_URL: database.connectionString };
    const service = await startService({ env, openFiles: OPEN_FILES });
    cleanups.push(() => service.stop());
    // The held call must outlast the filling, which takes a busy machine long.
    await connectCrm(service, oracle.baseUrl, { timeoutMs: 60_000 });
    return { ...database, oracle, service, port: Number(new URL(service.baseUrl).port) };
  };

  it(
    'ends new connections, does nothing by halves, and serves again in the same process when they are closed',
    async () => {
      const { connectionString, oracle, service, port } = await begin();
      const { pid, agentKey } = service;
      const [first, underWay, undialled, unrecorded, refused] = ['a', 'b', 'c', 'd', 'e'].map((rest) =>
        effectOf('ok', 0, rest),
      ) as [string, string, string, string, string];
      expect(await write(service, agentKey, first)).toMatchObject(ofStatus('succeeded'));
      const reached = oracle.holdNextWrite();
      const held = write(service, agentKey, underWay);
      await reached;
      const beforeBytes = await residentBytes(pid);
      const kept: RawConnection[] = [];
      await openAll(port, kept);
      console.info(`${kept.length} connections of ${OPEN_FILES} files`);

      const stranger = await RawConnection.open(port);
      stranger.send(requestFor(agentKey, refused));
      expect(await stranger.untilClosed()).toBe('');
      const [one, other] = kept as [RawConnection, RawConnection];
      // What a start has opened beside the least is given back after some seconds.
      await openAll(port, kept);
      const failed = await ask(one, agentKey, undialled);
      expect([failed.status, JSON.parse(failed.body)]).toMatchObject([
        200,
        { state: 'sealed', execution: { status: 'failed', error_code: 'connector_unavailable' } },
      ]);

      const databasePort = Number(new URL(connectionString).port);
      await endAllSessions(connectionString, async () => {
        await openAll(port, kept);
        return (await openSocketsTo(pid, databasePort)) > 0;
      });
      oracle.holdNothing();
      other.send('GET /v1/health HTTP/1.1\r\nHost: service\r\n\r\n');
      const [unavailable, health] = await Promise.all([ask(one, agentKey, unrecorded), other.answer()]);
      expect([unavailable.status, errorOf(unavailable)]).toMatchObject([503, { code: 'service_unavailable' }]);
      expect(unavailable.headers.get('retry-after')).toEqual(['1']);
      expect([health.status, JSON.parse(health.body)]).toMatchObject([503, { status: 'down' }]);

      expect((await residentBytes(pid)) - beforeBytes).toBeLessThan(MAX_GROWTH_BYTES);
      for (const connection of kept) connection.close();
      const closedMs = performance.now();
      await vi.waitFor(async () => {
        expect(await service.call('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
      }, WAITED);
      console.info(`well ${Math.round(performance.now() - closedMs)} ms after they were closed`);
      expect([service.isRunning, service.pid, service.ends]).toEqual([true, pid, []]);
      expect([200, 202, 503]).toContain((await held)?.status);
      const ends = { [first]: 1, [underWay]: 1, [undialled]: 0, [unrecorded]: 1, [refused]: 1 };
      for (const [effect, sent] of Object.entries(ends)) {
        await vi.waitFor(async () => {
          const again = await write(service, agentKey, effect);
          expect(again).toMatchObject(ofStatus(sent === 0 ? 'failed' : 'succeeded'));
        }, WAITED);
        expect([effect, sentFor(oracle, effect)]).toEqual([effect, sent]);
      }
      expect(performance.now() - closedMs).toBeLessThan(RECOVERY_MS);
      await expectSealedOnce(service);
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    DEADLINE_MS,
  );
});

describe('a process of two that is out of memory', () => {
  /** A start and a first call need some 38 of them; the callers' arguments and their copies the rest. */
  const MEMORY_MIB = 48;
  const CALLERS = 80;
  const REPEATS_AT_ONCE = 8;
  /** With its id and tool a little less than the most that arguments may be: 256 KiB. */
  const LARGE = 'x'.repeat(255_000);

  /** Started first, so that it seals and projects; the other is its standby. */
  const startBoth = async () => {
    const database = await createTestDatabase();
    cleanups.push(() => database.drop());
    const stateDir = await temporaryStateDir();
    cleanups.push(() => removeStateDir(stateDir));
    const oracle = await startOracle();
    cleanups.push(() => oracle.close());
    const env = { ...FLEET_SETTINGS, DATABASE_URL: database.connectionString };
    const memory = { NODE_OPTIONS: `--max-old-space-size=${MEMORY_MIB}` };
    const small = await startService({ stateDir, env: { ...env, ...memory } });
    cleanups.push(() => small.stop());
    const other = await startService({ stateDir, env });
    cleanups.push(() => other.stop());
    // A call that is held must outlast the collecting of garbage that comes before the end.
    await connectCrm(small, oracle.baseUrl, { timeoutMs: 60_000 });
    return { oracle, small, other, key: small.agentKey };
  };

  /** The statuses of what was answered, up to the call whose connection broke. */
  const callUntilGone = async (service: RunningService, effects: string[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (;;) {
      const effect = effectOf('ok', 0, `flood${effects.length}`);
      effects.push(effect);
      const answer = await write(service, service.agentKey, effect, LARGE);
      if (answer === null) return statuses;
      statuses.push(answer.status);
    }
  };

  it(
    'dies, and the other goes on: each action is sealed once, sent at most once, and told to who repeats its key',
    async () => {
      const { oracle, small, other, key } = await startBoth();
      const done = effectOf('ok', 0, 'done');
      expect(await write(small, key, done, LARGE)).toMatchObject(ofStatus('succeeded'));
      const reached = oracle.holdNextWrite();
      const underWay = effectOf('ok', 0, 'underway');
      const held = write(small, key, underWay, LARGE);
      await reached;

      const flood: string[] = [];
      const callers = Promise.all(Array.from({ length: CALLERS }, () => callUntilGone(small, flood)));
      expect(await small.exited()).toEqual({ code: null, signal: 'SIGABRT' });
      const diedMs = performance.now();
      const statuses = (await callers).flat();
      expect([200, 202, 503]).toEqual(expect.arrayContaining(statuses));
      expect(await held).toBeNull();
      await vi.waitFor(() => expect(small.stderr).toContain('JavaScript heap out of memory'), WAITED);
      const sentByThen = flood.filter((effect) => sentFor(oracle, effect) > 0).length;

      expect(await write(other, key, underWay, LARGE)).toMatchObject(ofStatus('unknown'));
      console.info(
        `${flood.length} calls: ${statuses.length} answered, ${sentByThen} sent; the other tells of one that was sent ` +
          `after ${Math.round(performance.now() - diedMs)} ms`,
      );
      expect(sentFor(oracle, underWay)).toBe(1);
      const left = [done, ...flood];
      const ends: string[] = [];
      const repeat = async (): Promise<void> => {
        for (let effect = left.pop(); effect !== undefined; effect = left.pop()) {
          const again = await write(other, key, effect, LARGE);
          expect(again).toMatchObject({ status: 200, json: { state: 'sealed' } });
          const { status, error_code } = again?.json['execution'] as { readonly status: string; error_code: string };
          const how = status === 'failed' ? `${status} with ${error_code}` : status;
          ends.push(`${how}, sent ${sentFor(oracle, effect)}`);
        }
      };
      await Promise.all(Array.from({ length: REPEATS_AT_ONCE }, repeat));
      console.info(countsOf(ends));
      // Whether its end was written down in time; nothing is sent a second time to find out.
      const honest = ['succeeded, sent 1', 'unknown, sent 0', 'unknown, sent 1'];
      // A dying process may be too slow to read the credential: it has said so by then, and has sent nothing.
      const unread = 'failed with vault_unavailable, sent 0';
      expect([...honest, unread]).toEqual(expect.arrayContaining(ends));
      expect(sentFor(oracle, done)).toBe(1);
      await expectSealedOnce(other);
    },
    DEADLINE_MS,
  );
});
