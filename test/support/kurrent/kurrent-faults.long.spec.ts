import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GOOD_CERTIFICATE, TEST_AUTHORITY } from '../certificates.js';
import { deferred } from '../deferred.js';
import { newStream } from '../new-event.js';
import { KurrentServer, type KurrentServerOptions } from './kurrent-server.js';
import { event, events, eventually, follow, idsOf, read } from './plain-client.js';

const UNAVAILABLE = { code: 14 };
/** Makes the client append by a call of its own, which has a deadline. */
const credentials = { username: 'nobody', password: 'nobody' };

describe('the test server', () => {
  const servers: KurrentServer[] = [];
  const clients: EventStoreDBClient[] = [];
  const openSockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  let openBefore = 0;
  beforeAll(() => {
    openBefore = openSockets();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.dispose()));
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  const start = async (options: KurrentServerOptions = {}) => {
    const server = await KurrentServer.start(options);
    servers.push(server);
    return server;
  };
  const connect = (url: string) => {
    const client = EventStoreDBClient.connectionString(url);
    clients.push(client);
    return client;
  };
  /** A client, with a connection that is its own and not one that another has just lost. */
  const reconnect = async (url: string) => {
    const client = connect(url);
    await eventually(() => read(client.readAll({ maxCount: 1 })));
    return client;
  };
  /** A client whose next appends leave in the order of asking. */
  const warm = async (url: string, path: { readonly credentials?: typeof credentials }) => {
    const client = connect(url);
    await client.appendToStream('warm', event(), path);
    return client;
  };
  const lastOf = async (client: EventStoreDBClient) =>
    (await read(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 })))[0]!;

  it('counts what it is asked', async () => {
    const server = await start();
    const client = connect(server.url);
    await client.appendToStream('a', event());
    await client.appendToStream('a', event());
    await client.appendToStream('a', event(), { credentials });
    await read(client.readStream('a'));
    const { told } = follow(client, {});
    await eventually(() => expect(told).toContain('caught up'));
    expect(server.calls).toEqual({ append: 1, batchAppend: 2, read: 1, subscribe: 1 });
  });

  it('puts events of its own between the others, unless it is told not to', async () => {
    const systemEvents = async (options: KurrentServerOptions) => {
      const server = await start(options);
      const client = connect(server.url);
      for (let count = 0; count < 20; count += 1) await client.appendToStream(newStream(), event());
      server.appendSystemEvent();
      const all = await read(client.readAll());
      return all.flatMap(({ streamId }, index) => (streamId.startsWith('$') ? [index] : []));
    };
    expect(await systemEvents({})).toEqual([0, 8, 16, 23]);
    expect(await systemEvents({ hasSystemEvents: false })).toEqual([20]);
  });

  it('refuses a batch with an id that is no UUID', async () => {
    const client = connect((await start()).url);
    const refused = { type: 'unknown', message: 'Could not recognize BadRequest' };
    await expect(client.appendToStream('a', [event(), event({ id: 'act_1' })])).rejects.toMatchObject(refused);
    await expect(read(client.readStream('a'))).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  describe('when it is killed', () => {
    it('ends what is under way without an answer, refuses connections, and comes back as it was', async () => {
      const server = await start();
      const client = connect(server.url);
      const sent = events(2);
      const first = await client.appendToStream('a', sent, { expectedRevision: 'no_stream' });
      const { told, errors } = follow(client, { fromPosition: 'end' });
      await eventually(() => expect(told).toContain('caught up'));
      server.hang();
      const underWay = [client.appendToStream('a', event()), client.appendToStream('a', event(), { credentials })];
      underWay.push(read(client.readStream('a')) as never);
      await server.kill();
      for (const request of underWay) await expect(request).rejects.toMatchObject(UNAVAILABLE);
      await eventually(() => expect(errors).toMatchObject([{ type: 'unavailable' }]));
      await expect(client.appendToStream('a', event())).rejects.toMatchObject({
        ...UNAVAILABLE,
        message: expect.stringContaining('ECONNREFUSED') as string,
      });
      const { url } = server;
      await server.start();
      expect(server.url).toBe(url);
      const again = await reconnect(url);
      expect(idsOf(await read(again.readStream('a')))).toEqual(idsOf(sent));
      expect(await again.appendToStream('a', sent, { expectedRevision: 'no_stream' })).toEqual(first);
    });

    it('forgets ids, except where an append names its revision', async () => {
      const server = await start();
      const sent = events(1);
      const append = (client: EventStoreDBClient) => client.appendToStream('a', sent, { expectedRevision: 'any' });
      const client = connect(server.url);
      await append(client);
      expect(await append(client)).toMatchObject({ nextExpectedRevision: 0n });
      await server.restart();
      expect(await append(await reconnect(server.url))).toMatchObject({ nextExpectedRevision: 1n });
    });

    it('forgets the end of its log where that comes from an older backup', async () => {
      const server = await start({ hasSystemEvents: false });
      const client = connect(server.url);
      const { position } = await client.appendToStream('a', events(2));
      const { position: lost } = await client.appendToStream('a', events(2));
      await client.appendToStream('b', event());
      await server.rewind(position!.commit);
      const again = await reconnect(server.url);
      expect(await read(again.readAll())).toHaveLength(2);
      await expect(read(again.readStream('b'))).rejects.toMatchObject({ type: 'stream-not-found' });
      expect(await again.appendToStream('a', events(2), { expectedRevision: 1n })).toMatchObject({ position: lost });
    });
  });

  it('answers nobody while it hangs, and everybody afterwards', async () => {
    const server = await start();
    const client = connect(server.url);
    await client.appendToStream('a', event());
    server.hang();
    const underWay = client.appendToStream('a', event());
    const late = { type: 'deadline-exceeded' };
    // Clients with one URL share a connection; another time between pings makes one of its own.
    for (const asking of [client, connect(`${server.url}&keepAliveInterval=20000`)]) {
      const append = asking.appendToStream('b', event(), { credentials, deadline: 100 });
      await expect(append).rejects.toMatchObject(late);
    }
    const reading = read(connect(server.url).readStream('a'));
    server.resume();
    expect(await underWay).toMatchObject({ nextExpectedRevision: 1n });
    expect(idsOf(await reading).length).toBeGreaterThan(0);
  });

  describe.each([
    ['BatchAppend', {}],
    ['Append', { credentials }],
  ])('by %s', (_, path) => {
    it.each([
      ['loses the answer to what it wrote', 'loseNextAnswer', 1],
      ['ends a connection instead of writing', 'failNextAppendUnwritten', 0],
    ] as const)('%s, once', async (_title, fault, written) => {
      const server = await start();
      const client = connect(server.url);
      const sent = events(1);
      const happened = server[fault]();
      const append = client.appendToStream('a', sent, { expectedRevision: 'no_stream', ...path });
      await expect(append).rejects.toMatchObject(UNAVAILABLE);
      await happened;
      const again = await reconnect(server.url);
      const found = await read(again.readAll());
      expect(found.filter(({ streamId }) => streamId === 'a')).toHaveLength(written);
      const repeated = again.appendToStream('a', sent, { expectedRevision: 'no_stream', ...path });
      expect(await repeated).toMatchObject({ success: true, nextExpectedRevision: 0n });
    });

    // As seen on 24.2.0, which takes two or three seconds to say so.
    it('drops a repetition of what is still under way, and knows it afterwards', async () => {
      const server = await start();
      const client = await warm(server.url, path);
      const committed = deferred();
      server.delayCommits(() => committed.promise);
      const sent = events(2);
      const append = () => client.appendToStream('a', sent, { expectedRevision: 'no_stream', ...path });
      const first = append();
      await expect(append()).rejects.toMatchObject({
        type: expect.stringMatching(/deadline-exceeded|timeout/) as string,
      });
      committed.resolve();
      expect(await first).toMatchObject({ success: true, nextExpectedRevision: 1n });
      expect(await append()).toEqual(await first);
    });

    it('answers in another order than it wrote, when it is slow to commit', async () => {
      const server = await start();
      server.delayCommits();
      const client = await warm(server.url, path);
      const answered: bigint[] = [];
      const results = Array.from({ length: 50 }, async (__, index) => {
        const { position } = await client.appendToStream(`stream-${index}`, event(), path);
        answered.push(position!.commit);
        return position!.commit;
      });
      const sorted = [...(await Promise.all(results))].sort((a, b) => Number(a - b));
      expect(await Promise.all(results)).toEqual(sorted);
      expect(answered).not.toEqual(sorted);
    });
  });

  describe('a subscription', () => {
    it('is dropped with the others when it is told so', async () => {
      const server = await start();
      const client = connect(server.url);
      const [first, second] = [follow(client, {}), follow(client, { fromPosition: 'end' })];
      for (const { told } of [first, second]) await eventually(() => expect(told).toContain('caught up'));
      server.dropSubscriptions();
      const dropped = { type: 'timeout', code: 10, message: expect.stringContaining('Consumer too slow') as string };
      for (const { errors } of [first, second]) await eventually(() => expect(errors).toMatchObject([dropped]));
      expect(await client.appendToStream('a', event())).toMatchObject({ success: true });
    });

    it('is dropped when more comes at once than it may have before it', async () => {
      const server = await start({ dropSlowerThan: 32, hasSystemEvents: false });
      const client = connect(server.url);
      const { told, errors } = follow(client, {});
      await eventually(() => expect(told).toContain('caught up'));
      await client.appendToStream('a', events(32));
      await eventually(() => expect(told).toHaveLength(34));
      await client.appendToStream('a', events(33));
      await eventually(() => expect(errors).toMatchObject([{ type: 'timeout' }]));
      expect(told).toHaveLength(34);
      const again = follow(client, {});
      await eventually(() => expect(again.told).toHaveLength(67));
    });
  });

  describe('as a follower', () => {
    it('hands on what is appended, sees nothing of it, and sends who wants the leader there', async () => {
      const leader = await start();
      await connect(leader.url).appendToStream('a', event());
      const follower = await start({ followerOf: leader });
      const client = connect(follower.url);
      expect(await client.appendToStream('a', event())).toMatchObject({ nextExpectedRevision: 1n });
      expect(await read(client.readStream('a'))).toHaveLength(1);
      const sent = { type: 'not-leader', leader: { address: '127.0.0.1', port: leader.port } };
      await expect(read(client.readStream('a', { requiresLeader: true }))).rejects.toMatchObject(sent);
      expect(await read(client.readStream('a', { requiresLeader: true }))).toHaveLength(2);
      for (const path of [{}, { credentials }]) {
        const append = connect(follower.url).appendToStream('a', event(), { requiresLeader: true, ...path });
        await expect(append).rejects.toMatchObject(sent);
      }
      const { told, errors } = follow(connect(follower.url), { requiresLeader: true });
      await eventually(() => expect(errors).toMatchObject([sent]));
      expect(told).toEqual(['confirmation']);
    });

    it('tells which node is the leader, and which are alive', async () => {
      const leader = await start();
      const [dead, follower] = [await start({ followerOf: leader }), await start({ followerOf: leader })];
      await dead.kill();
      const discover = () => connect(`esdb://127.0.0.1:${dead.port},127.0.0.1:${follower.port}?tls=false`);
      // Without a leader the client takes any node, at random.
      for (let count = 1; count <= 10; count += 1) {
        expect(await discover().appendToStream('a', event(), { requiresLeader: true })).toMatchObject({
          success: true,
        });
        expect(leader.calls.batchAppend).toBe(count);
      }
      await leader.kill();
      await read(discover().readAll());
      expect(follower.calls.read).toBe(1);
    });
  });

  it('serves its user alone, by TLS', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ags-kurrent-'));
    const tlsCAFile = join(folder, 'ca.crt');
    await writeFile(tlsCAFile, TEST_AUTHORITY);
    const server = await start({ tls: GOOD_CERTIFICATE, user: { username: 'admin', password: 'right' } });
    const as = (user: string) => connect(`${server.url.replace('admin:right@', user)}&tlsCAFile=${tlsCAFile}`);
    for (const path of [{}, { credentials: { username: 'admin', password: 'right' } }]) {
      expect(await as('admin:right@').appendToStream('a', event(), path)).toMatchObject({ success: true });
    }
    expect(await lastOf(as('admin:right@'))).toMatchObject({ streamId: 'a' });
    await expect(lastOf(as('admin:wrong@'))).rejects.toMatchObject({ type: 'access-denied', code: 16 });
    await expect(lastOf(as(''))).rejects.toMatchObject({ type: 'access-denied', code: 7 });
    for (const user of ['admin:wrong@', '']) {
      await expect(as(user).appendToStream('a', event())).rejects.toMatchObject({ type: 'access-denied' });
    }
    await rm(folder, { recursive: true });
  });

  it('leaves nothing open', async () => {
    const { port } = await start();
    expect(openSockets()).toBeGreaterThan(openBefore);
    await servers[0]!.close();
    await eventually(() => expect(openSockets()).toBeLessThanOrEqual(openBefore));
    await expect(connect(`esdb://127.0.0.1:${port}?tls=false`).appendToStream('a', event())).rejects.toThrow(
      'ECONNREFUSED',
    );
  });
});
