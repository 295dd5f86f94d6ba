import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { AccessDeniedError } from '@eventstore/db-client';
import type { ServiceError } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RecordedEvent, RevisionConflict, START, StoreUnavailable } from '#libs/domain/kernel';
import { KurrentServer } from '../../../../../test/support/kurrent/kurrent-server.js';
import { firstOf, newEvents, newStream } from '../../../../../test/support/new-event.js';
import {
  EXPIRED_CERTIFICATE,
  GOOD_CERTIFICATE,
  OTHER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
  TEST_AUTHORITY,
} from '../../../../../test/support/certificates.js';
import { UnknownPosition } from '../unknown-position.js';
import { failureOf, KurrentUnavailable } from './kurrent-failures.js';
import { KurrentEventStore, type KurrentEventStoreOptions } from './kurrent-event-store.js';

const PATIENCE = { timeout: 20_000, interval: 20 };

const servers: KurrentServer[] = [];
const stores: KurrentEventStore[] = [];
let server: KurrentServer;

const start = async (options: Parameters<typeof KurrentServer.start>[0] = {}): Promise<KurrentServer> => {
  const started = await KurrentServer.start(options);
  servers.push(started);
  return started;
};
const open = (options: Partial<KurrentEventStoreOptions> = {}): KurrentEventStore => {
  const store = new KurrentEventStore({ url: server.url, deadlineMs: 30_000, ...options });
  stores.push(store);
  return store;
};

beforeEach(async () => {
  server = await start();
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(servers.splice(0).map((started) => started.close()));
});

describe('a request to the server', () => {
  it('is one call for each append, and never the client’s shared append stream', async () => {
    const store = open();
    await Promise.all(Array.from({ length: 20 }, () => store.append(firstOf(newStream(), 3))));
    expect(server.calls).toMatchObject({ append: 20, batchAppend: 0 });
  });

  it('is a single read for the heads of all watched streams if the process is long-lived', async () => {
    const store = open({ isLongLived: true });
    const streams = Array.from({ length: 10 }, newStream);
    for (const stream of streams) await store.append(firstOf(stream));
    await vi.waitFor(() => expect(store.seenHeads(streams).size).toBe(10), PATIENCE);
    await store.heads(streams);
    const before = server.calls.read;
    expect((await store.heads(streams)).size).toBe(10);
    expect(server.calls.read - before).toBe(1);
    // A single node need not prove that it leads.
    expect(server.calls.append).toBe(10);
  });
});

describe('an append that is refused', () => {
  it('is reported as a conflict only once the conflicting event can be read', async () => {
    const store = open();
    const stream = newStream();
    await store.append(firstOf(stream));
    server.withhold(stream);
    const before = server.calls.read;
    const refused = store.append(firstOf(stream));
    await Promise.all([
      expect(refused).rejects.toBeInstanceOf(RevisionConflict),
      vi
        .waitFor(() => expect(server.calls.read).toBeGreaterThan(before + 2), PATIENCE)
        .finally(() => server.release(stream)),
    ]);
    expect(await store.readStream(stream)).toHaveLength(1);
  });
});

describe('an append whose connection is lost', () => {
  it('is recorded once if it had been written', async () => {
    const store = open();
    const append = firstOf(newStream(), 2);
    const lost = server.loseNextAnswer();
    const result = await store.append(append);
    await lost;
    expect(result.revision).toBe(1);
    expect(server.calls.append).toBe(2);
    expect((await store.readStream(append.stream)).map(({ id }) => id)).toEqual(append.events.map(({ id }) => id));
  });

  it('is recorded once if it had not been written', async () => {
    const store = open();
    const append = firstOf(newStream());
    const failed = server.failNextAppendUnwritten();
    expect((await store.append(append)).revision).toBe(0);
    await failed;
    expect(await store.readStream(append.stream)).toHaveLength(1);
  });
});

describe('an unfinished read', () => {
  it('fails when the store is closed, and does not look empty', async () => {
    const store = new KurrentEventStore({ url: server.url });
    await store.append(firstOf(newStream()));
    server.hang();
    const reads = Promise.allSettled([store.readAll(START, 10), store.head(), store.heads(['some-stream'])]);
    await turn();
    await store.close();
    for (const read of await reads) expect(read).toMatchObject({ reason: expect.any(StoreUnavailable) as unknown });
  });
});

describe('a subscription', () => {
  const following = (store: KurrentEventStore) => {
    const events: RecordedEvent[] = [];
    const subscription = store.subscribeToAll({
      after: START,
      onEvents: (batch) => Promise.resolve(void events.push(...batch)),
      onError: () => undefined,
    });
    return { events, subscription };
  };

  it('continues without repeats and gaps after the server dropped it as too slow', async () => {
    server = await start({ dropSlowerThan: 32 });
    const [store, writer] = [open({ pollIntervalMs: 60_000 }), open()];
    const { events, subscription } = following(store);
    const stream = newStream();
    for (let written = 0; written < 2_000; written += 500) {
      const expectedRevision = written === 0 ? 'no_stream' : written - 1;
      await writer.append({ stream, expectedRevision, events: newEvents(500) });
    }
    await vi.waitFor(() => expect(events).toHaveLength(2_000), { timeout: 20_000 });
    expect(events.every(({ revision }, index) => revision === index)).toBe(true);
    expect(server.calls.subscribe).toBeGreaterThan(1);
    await subscription.close();
  });

  it('continues after the server dropped it without any error', async () => {
    const [store, writer] = [open({ pollIntervalMs: 60_000 }), open()];
    const { events, subscription } = following(store);
    await writer.append(firstOf(newStream()));
    await vi.waitFor(() => expect(events).toHaveLength(1), { timeout: 5_000 });
    server.dropSubscriptions();
    await writer.append(firstOf(newStream()));
    await vi.waitFor(() => expect(events).toHaveLength(2), { timeout: 5_000 });
    await subscription.close();
  });

  it('delivers events by polling while the server keeps dropping it', async () => {
    const [store, writer] = [open({ pollIntervalMs: 20 }), open()];
    const { events, subscription } = following(store);
    await vi.waitFor(() => expect(server.calls.subscribe).toBe(1), PATIENCE);
    for (let count = 1; count <= 5; count += 1) {
      server.dropSubscriptions();
      await writer.append(firstOf(newStream()));
      await vi.waitFor(() => expect(events).toHaveLength(count), { timeout: 5_000 });
    }
    await subscription.close();
  });
});

describe('a node of a cluster', () => {
  it('that follows is left for the leader', async () => {
    const follower = await start({ followerOf: server });
    const store = open({ url: follower.url });
    const append = firstOf(newStream());
    await store.append(append);
    expect(await store.readStream(append.stream)).toHaveLength(1);
    expect(await store.heads([append.stream])).toEqual(new Map([[append.stream, 0]]));
  });

  it('that leads is found among several', async () => {
    const follower = await start({ followerOf: server });
    const store = open({ url: `esdb://127.0.0.1:${follower.port},127.0.0.1:${server.port}?tls=false` });
    expect((await store.append(firstOf(newStream()))).revision).toBe(0);
    expect([server.calls.append, follower.calls.append]).toEqual([1, 0]);
  });

  it('that hangs is not waited for past the deadline, even if all nodes hang', async () => {
    const follower = await start({ followerOf: server });
    const url = `esdb://127.0.0.1:${follower.port},127.0.0.1:${server.port}?tls=false`;
    const append = firstOf(newStream());
    for (const node of [server, follower]) node.hang();
    const startedAt = performance.now();
    const store = open({ url, deadlineMs: 500 });
    await expect(store.append(append)).rejects.toBeInstanceOf(StoreUnavailable);
    await store.close();
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    const waiting = open({ url }).append(append);
    for (const node of [server, follower]) node.resume();
    expect((await waiting).revision).toBe(0);
  });

  describe('that believes it leads', () => {
    let follower: KurrentServer;
    beforeEach(async () => {
      follower = await start({ followerOf: server });
    });
    const openCluster = (options: Partial<KurrentEventStoreOptions> = {}): KurrentEventStore =>
      open({ url: `esdb://127.0.0.1:${server.port},127.0.0.1:${follower.port}?tls=false`, ...options });

    it.each([{ isLongLived: true }, { isLongLived: false }])(
      'is not believed once another node leads, however recently it led itself (%o)',
      async (options) => {
        const store = openCluster(options);
        const stream = newStream();
        // The store learns of this stream by asking, and the answer is that it does not exist.
        expect(await store.heads([stream])).toEqual(new Map());
        follower.lead();
        const writer = open({ url: follower.url });
        const { position } = await writer.append(firstOf(stream));
        expect(await store.heads([stream])).toEqual(new Map([[stream, 0]]));
        expect(await store.head()).toBe(position);
      },
    );

    it('is not taken for a log that went back if it lacks what its successor wrote', async () => {
      const onWentBack = vi.fn();
      const store = openCluster({ onWentBack });
      const stream = newStream();
      follower.lead();
      await store.append(firstOf(stream));
      await follower.kill();
      const asked = store.readStream(stream);
      await Promise.all([
        expect(asked).resolves.toHaveLength(1),
        vi.waitFor(() => expect(server.calls.append).toBeGreaterThan(0), 5_000).finally(() => follower.start()),
      ]);
      expect(onWentBack).not.toHaveBeenCalled();
    });

    it('must prove it by a write for every question, once for questions asked at the same moment', async () => {
      const store = openCluster();
      const shown: number[] = [];
      for (let round = 1; round <= 3; round += 1) {
        await Promise.all([store.heads([newStream(), newStream()]), store.head()]);
        shown.push(server.calls.append);
      }
      expect(shown).toEqual([1, 2, 3]);
      expect(await store.readAll(START, 10)).toEqual([]);
    });

    it('need not prove it for reads whose events never change', async () => {
      const store = openCluster();
      await store.readStream(newStream());
      await store.readAll(START, 10);
      expect(server.calls.append).toBe(0);
    });
  });
});

describe('the end of the log', () => {
  it('is found before the server’s own events, which are skipped only once', async () => {
    const store = open();
    const { position } = await store.append(firstOf(newStream()));
    for (let count = 0; count < 200; count += 1) server.appendSystemEvent();
    const looks: number[] = [];
    for (let look = 0; look < 2; look += 1) {
      const before = server.calls.read;
      expect(await store.head()).toBe(position);
      looks.push(server.calls.read - before);
      server.appendSystemEvent();
    }
    expect(looks).toEqual([3, 1]);
    const next = await store.append(firstOf(newStream()));
    expect(await store.head()).toBe(next.position);
  });
});

describe('a user who lacks a right', () => {
  const told: string[] = [];
  const onOutage = (error: KurrentUnavailable | null): void => void told.push(error ? error.message : 'back');
  beforeEach(() => void told.splice(0));

  it.each(['append', 'read_all'] as const)('is reported once, and once when granted it: %s', async (right) => {
    const store = open({ onOutage, deadlineMs: 500 });
    const append = firstOf(newStream());
    // Waits until the connection is made.
    await vi.waitFor(() => store.append(append), PATIENCE);
    told.splice(0);
    server.deny(right);
    for (let round = 0; round < 3; round += 1) {
      const asked = await Promise.allSettled([store.append(firstOf(newStream())), store.head()]);
      expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await expect(store.requireUsable()).rejects.toThrow('its user may not');
      expect(await store.readStream(append.stream)).toHaveLength(1);
    }
    const words =
      right === 'append'
        ? /^its user may not append to \S+, and must be able/
        : /^its user may not read \$all, and must/;
    expect(told).toEqual([expect.stringMatching(words)]);
    server.allow(right);
    await store.requireUsable();
    expect(told.slice(1)).toEqual(['back']);
  });

  it('makes requireUsable fail, which writes nothing', async () => {
    const store = open();
    await store.requireUsable();
    await store.append(firstOf(newStream()));
    server.deny('append');
    await expect(store.requireUsable()).rejects.toThrow('its user may not append to store, and must be able');
    server.allow('append');
    await store.storeId();
    await store.requireUsable();
    expect(await store.readAll(START, 10)).toHaveLength(2);
  });
});

describe('a server that knows its users', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ags-kurrent-ca-'));
    await writeFile(join(folder, 'ca.crt'), TEST_AUTHORITY);
    server = await start({ tls: GOOD_CERTIFICATE, user: { username: 'ags', password: 'a:b@c' } });
  });
  afterEach(() => rm(folder, { recursive: true }));
  const urlOf = (user: string): string => `esdb://${user}@127.0.0.1:${server.port}?tlsCAFile=${join(folder, 'ca.crt')}`;

  it('accepts the user of the URL', async () => {
    const store = open({ url: urlOf('ags:a%3Ab%40c') });
    const append = firstOf(newStream());
    await store.append(append);
    expect(await store.readAll(START, 10)).toHaveLength(1);
  });

  it.each([
    [16, 'it does not know the user, or not by this password'],
    [7, 'its user may not read $all, and must be able to read $all, to append to every stream'],
  ])('tells by status code %i what is wrong with the user', (code, words) => {
    const error = new AccessDeniedError(Object.assign(new Error(''), { code }) as ServiceError);
    expect(new KurrentUnavailable(failureOf(error, 'read', '$all')).message).toContain(words);
  });

  it.each([
    ['has expired', EXPIRED_CERTIFICATE, 'certificate has expired'],
    ['holds another name', OTHER_CERTIFICATE, "does not match certificate's altnames"],
    ['is signed by nobody it knows', SELF_SIGNED_CERTIFICATE, 'self-signed certificate'],
  ])('is reported as untrusted if it is one of several nodes and its certificate %s', async (_, tls, words) => {
    const node = await start({ tls });
    const hosts = `127.0.0.1:${node.port},127.0.0.1:${node.port}`;
    const store = open({ url: `esdb://a:b@${hosts}?tlsCAFile=${join(folder, 'ca.crt')}`, deadlineMs: 8_000 });
    const asked = expect(store.head()).rejects;
    await asked.toThrow(`the certificate of 127.0.0.1:${node.port} is not accepted: `);
    await asked.toThrow(words);
  });

  it('refuses any other user, and the error says so', async () => {
    const store = open({ url: urlOf('ags:guessed'), deadlineMs: 1_500 });
    for (const ask of [() => store.append(firstOf(newStream())), () => store.head()]) {
      await expect(ask()).rejects.toBeInstanceOf(KurrentUnavailable);
      await expect(ask()).rejects.toThrow('it does not know the user, or not by this password');
    }
  });

  it('is quoted in the error even if the deadline cut the last try short', async () => {
    const onOutage = (error: Error | null): void => void (error && server.hang());
    const store = open({ url: urlOf('ags:guessed'), deadlineMs: 1_500, onOutage });
    await expect(store.head()).rejects.toThrow('it does not know the user, or not by this password');
  });

  it('is reached once the file of the certificate authority exists', async () => {
    const late = join(folder, 'late.crt');
    const store = open({ url: `esdb://ags:a%3Ab%40c@127.0.0.1:${server.port}?tlsCAFile=${late}`, deadlineMs: 2_000 });
    await expect(store.head()).rejects.toThrow('Failed to load certificate file');
    await writeFile(late, TEST_AUTHORITY);
    expect(await store.head()).toBe(START);
  });

  it('lets a store close that never reached it', async () => {
    const store = new KurrentEventStore({
      url: `esdb://a:b@127.0.0.1:${server.port}?tlsCAFile=${join(folder, 'none')}`,
      deadlineMs: 100,
    });
    await expect(store.head()).rejects.toThrow(KurrentUnavailable);
    await store.close();
  });
});

describe('a position', () => {
  it('to read from may be the one right before an event, but no other that no event has', async () => {
    const store = open();
    await store.append(firstOf(newStream(), 5));
    const events = await store.readAll(START, 10);
    const third = events[2]?.position as bigint;
    expect(await store.readAll(third - 1n, 10)).toEqual(events.slice(2));
    await expect(store.readAll(third - 3n, 10)).rejects.toBeInstanceOf(UnknownPosition);
  });
});
