import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveConnector } from '#libs/domain/connectors';
import type { FollowEnd, WitnessLogin } from '#libs/domain/witness';
import { SystemClock } from '#libs/infra/runtime';
import { createLoggedDatabase, type LoggedDatabase } from '../../../../test/support/change-log.js';
import { deferred } from '../../../../test/support/deferred.js';
import { dialledClient, impatient } from './dialled-client.js';
import { EgressChangeLogSource } from './egress-change-log-source.js';
import { slotStateOf } from './slots.js';

/** Before the database: it lets through what a server says, until it lets through nothing more. */
class Between {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** After so many bytes of the server; null: never. */
  silentAfter: number | null = null;
  readonly silenced = deferred<undefined>();

  constructor(private readonly behind: { readonly host: string; readonly port: number }) {
    this.server = createServer((near) => this.relay(near));
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as { readonly port: number }).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private relay(near: Socket): void {
    const far = connect(this.behind.port, this.behind.host);
    let heard = 0;
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('data', (bytes) => far.write(bytes));
    near.on('close', () => far.destroy());
    far.on('data', (bytes) => {
      heard += bytes.byteLength;
      if (this.silentAfter === null || heard <= this.silentAfter) near.write(bytes);
      else this.silenced.resolve(undefined);
    });
  }
}

let logged: LoggedDatabase;
let between: Between;
let port: number;
let source: EgressChangeLogSource;

beforeAll(async () => {
  logged = await createLoggedDatabase();
  await logged.client.query('create table t (id int primary key)');
  await logged.publish('t');
});
afterAll(() => logged?.drop());
beforeEach(async () => {
  const { hostname, port: behind } = new URL(logged.connectionString);
  between = new Between({ host: hostname, port: Number(behind) });
  port = await between.listen();
  source = new EgressChangeLogSource({ connect: dial }, new SystemClock());
});
afterEach(async () => {
  source.close();
  await between.close();
});

const dial = async (): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};
const login = (): WitnessLogin => {
  const { user, password, database } = logged.connection;
  return {
    connector: { id: 'con_1', configHash: 'one', credential: null } as unknown as LiveConnector,
    terms: {
      destination: { protocol: 'postgres:', host: '127.0.0.1', port },
      ...{ database, slot: logged.slot, publication: logged.publication, watchBypass: false, place: 'here' },
    } as unknown as WitnessLogin['terms'],
    username: Buffer.from(user),
    password: Buffer.from(password),
  };
};
const unreachable = { name: 'LogUnreachable' };

describe('what waits for a database that does not answer ends with its source', () => {
  it('while it is dialled', async () => {
    const dialled = deferred<undefined>();
    const never = new EgressChangeLogSource(
      {
        connect: (_, signal) =>
          new Promise((_resolve, reject) => {
            dialled.resolve(undefined);
            signal.addEventListener('abort', () => reject(new Error('given up')));
          }),
      },
      new SystemClock(),
    );
    const asked = expect(never.inspect(login())).rejects.toMatchObject(unreachable);
    await dialled.promise;
    never.close();
    await asked;
  });

  it('while it signs in', async () => {
    between.silentAfter = 0;
    const asked = expect(source.inspect(login())).rejects.toMatchObject(unreachable);
    await between.silenced.promise;
    source.close();
    await asked;
  });

  it('while it is asked', async () => {
    await source.inspect(login());
    between.silentAfter = 0;
    const asked = expect(source.inspect(login())).rejects.toMatchObject(unreachable);
    await between.silenced.promise;
    source.close();
    await asked;
  });

  it('and nothing is dialled any more', async () => {
    source.close();
    await expect(source.inspect(login())).rejects.toMatchObject(unreachable);
  });

  it('but a log that is followed, which ends by its own signal', async () => {
    const [ending, started, seen] = [new AbortController(), deferred<undefined>(), deferred<string>()];
    const following = source.follow({
      ...login(),
      signal: ending.signal,
      onStarted: () => started.resolve(undefined),
      onTransaction: async ({ end_lsn }) => {
        await Promise.resolve();
        seen.resolve(end_lsn);
      },
      onPosition: () => undefined,
    });
    await started.promise;
    source.close();
    await logged.client.query('insert into t values (1)');
    const end = await seen.promise;
    ending.abort();
    expect(await following).toBe('aborted');
    expect((await slotStateOf(logged.client, logged.slot))?.confirmedLsn).toBe(end);
  });
});

describe('a database that is silent', () => {
  it.each([
    ['signs in', 0],
    ['is asked which log it has', 600],
  ])('does not hold up the end of a following that %s', async (_, bytes) => {
    between.silentAfter = bytes;
    const ending = new AbortController();
    const following: Promise<FollowEnd> = source.follow({
      ...{ ...login(), signal: ending.signal },
      ...{ onStarted: () => undefined, onTransaction: () => Promise.resolve(), onPosition: () => undefined },
    });
    await between.silenced.promise;
    ending.abort();
    expect(await following).toBe('aborted');
  });

  it('is not waited for: the question fails, and its connection with it', async () => {
    const client = await dialledClient({ ...logged.connection, connect: dial }, 'ordinary');
    const ended = once(client, 'end');
    between.silentAfter = 0;
    await expect(slotStateOf(impatient(client, 50), logged.slot)).rejects.toMatchObject({ reason: 'connection_lost' });
    await ended;
  });
});
