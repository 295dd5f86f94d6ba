import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ed25519NoteSigner, MAX_ADD_CHECKPOINT_BYTES, SigningKey } from '#libs/crypto';
import { originHashOf } from './latest-checkpoints.js';
import { GivenLog, newLog, ORIGIN, treeIn } from './testing/given-log.js';
import { type ServedWitness, serveHere } from './testing/served-witness.js';
import { TrustedLogs } from './trusted-logs.js';

const log = newLog();
const second = newLog({ origin: 'second.example/log' });
const fork = new GivenLog(log.key, { branch: 'b', forkAt: 3 });

let served: ServedWitness;
beforeAll(async () => {
  served = await serveHere(new TrustedLogs([log.signer.vkey, second.signer.vkey], []));
  await add(log.asks({ oldSize: 0, size: 5 }));
});
afterAll(() => served.close());

const sendBytes = (body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(`${served.url}/add-checkpoint`, { method: 'POST', body });

const add = async (body: Promise<Buffer>): Promise<{ status: number; type: string | null; body: string }> => {
  const response = await sendBytes(new Uint8Array(await body));
  return { status: response.status, type: response.headers.get('Content-Type'), body: await response.text() };
};

/** What a client that knows no HTTP library says, and all that it is answered until the other side closes. */
const raw = async (request: string): Promise<string> => {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  return text(socket);
};

describe('add-checkpoint answers', () => {
  it('200 with signature lines, each ended', async () => {
    const { status, body } = await add(log.asks({ oldSize: 5, size: 5 }));
    expect([status, body]).toEqual([
      200,
      expect.stringMatching(/^(\u2014 witness\.example\/w1 [A-Za-z0-9+/]+=*\n){2}$/),
    ]);
  });

  it.each([
    ['nothing', ''],
    ['no size', '\nexample.com\n'],
    ['a size with a zero before', 'old 05\n\nx\n1\n'],
    ['a carriage return', 'old 0\r\n\r\nx\n'],
    ['no note', 'old 0\n\nx\n'],
    ['bytes that are no UTF-8', Uint8Array.from([0x6f, 0x6c, 0x64, 0x20, 0x30, 0x0a, 0x0a, 0xff, 0xfe])],
  ])('400 to what has not the form: %s', async (_what, body) => {
    expect((await sendBytes(body)).status).toBe(400);
  });

  it('400 to 64 proof lines, and to a size beyond 2^53-1', async () => {
    const honest = (await log.asks({ oldSize: 5, size: 6 })).toString();
    const line = `${Buffer.alloc(32).toString('base64')}\n`;
    expect((await sendBytes(`old 5\n${line.repeat(64)}\n${honest.split('\n\n').slice(1).join('\n\n')}`)).status).toBe(
      400,
    );
    expect((await sendBytes(honest.replace('\n6\n', '\n9007199254740992\n'))).status).toBe(400);
  });

  it('404 for an origin that it does not know, whoever signed', async () => {
    const stranger = newLog({ origin: 'third.example/log' });
    expect((await add(stranger.asks({ oldSize: 0, size: 5 }))).status).toBe(404);
    const known = await log.asks({ oldSize: 0, size: 5, origin: 'third.example/log' });
    expect((await sendBytes(new Uint8Array(known))).status).toBe(404);
  });

  it('403 where no known key of this origin signed', async () => {
    for (const signers of [[newLog().signer], [second.signer], [ed25519NoteSigner(ORIGIN, second.key)]]) {
      expect((await add(log.asks({ oldSize: 5, size: 6, signers }))).status).toBe(403);
    }
  });

  it('403 where a line of a known key is false, beside a valid one', async () => {
    const false_ = { ...log.signer, sign: () => new Uint8Array(64) };
    expect((await add(log.asks({ oldSize: 5, size: 6, signers: [log.signer, false_] }))).status).toBe(403);
  });

  it('400 to an old size above the size, before any 409', async () => {
    expect((await add(log.asks({ oldSize: 9, size: 8 }))).status).toBe(400);
  });

  it('409 with the size alone, and its media type, to any other old size', async () => {
    const conflict = { status: 409, type: 'text/x.tlog.size', body: '5\n' };
    expect(await add(log.asks({ oldSize: 0, size: 9 }))).toEqual(conflict);
    expect(await add(fork.asks({ oldSize: 4, size: 4 }))).toEqual(conflict);
    expect(await add(second.asks({ oldSize: 3, size: 9 }))).toEqual({ ...conflict, body: '0\n' });
  });

  it('422 to another root of the same size, a proof that does not lead there, and a proof from nothing', async () => {
    expect((await add(fork.asks({ oldSize: 5, size: 5 }))).status).toBe(422);
    expect((await add(fork.asks({ oldSize: 5, size: 9 }))).status).toBe(422);
    expect((await add(log.asks({ oldSize: 5, size: 9, proof: [] }))).status).toBe(422);
    expect((await add(second.asks({ oldSize: 0, size: 9, proof: [log.root(1)] }))).status).toBe(422);
    expect((await add(second.asks({ oldSize: 0, size: 0, root: log.root(1) }))).status).toBe(422);
  });

  it('405 to another method, and 404 to another path', async () => {
    const got = await fetch(`${served.url}/add-checkpoint`);
    expect([got.status, got.headers.get('Allow')]).toEqual([405, 'POST']);
    for (const path of [
      '/',
      '/sign-subtree',
      '/add-checkpoint/',
      '/..%2fwitness.key',
      `/${'0'.repeat(63)}/checkpoint`,
    ]) {
      expect((await fetch(`${served.url}${path}`, { method: 'POST', body: '' })).status).toBe(404);
    }
  });
});

describe('the monitoring URL', () => {
  it('gives the latest checkpoint under the hash of the origin, and 404 where nothing was cosigned', async () => {
    const response = await fetch(`${served.url}/${originHashOf(ORIGIN)}/checkpoint`);
    expect(treeIn(Buffer.from(await response.arrayBuffer()))).toMatchObject({ size: 5 });
    const none = await fetch(`${served.url}/${originHashOf('second.example/log')}/checkpoint`);
    expect(none.status).toBe(404);
    const posted = await fetch(`${served.url}/${originHashOf(ORIGIN)}/checkpoint`, { method: 'POST', body: '' });
    expect(posted.status).toBe(405);
  });
});

describe('the end', () => {
  it('waits for what is under way, and keeps no connection', async () => {
    const other = await serveHere(new TrustedLogs([log.signer.vkey], []));
    const body = await log.asks({ oldSize: 0, size: 5 });
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    socket.write(
      `POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    // It has been asked to go on: the request is under way.
    expect(String((await once(socket, 'data'))[0])).toContain('100 Continue');
    const ended = other.close();
    socket.write(body);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n/);
    await ended;
  });
});

describe('a hostile body', () => {
  const head = 'POST /add-checkpoint HTTP/1.1\r\nHost: w\r\n';

  it('that says it is too large is refused before it is read', async () => {
    const answer = await raw(`${head}Content-Length: ${MAX_ADD_CHECKPOINT_BYTES + 1}\r\n\r\nold`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/);
  });

  it('that does not say how large it is is refused where it becomes too large', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    const answer = await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${chunk}\r\n`.repeat(6)}`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('that is asked ahead of an answer ends the connection, and takes no turn of anybody', async () => {
    const body = await log.asks({ oldSize: 5, size: 5 });
    const one = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.byteLength}\r\n\r\n`), body]);
    const before = served.lines.filter((line) => line.includes('cosigned')).length;
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.concat(Array.from({ length: 100 }, () => one)));
    await once(socket, 'close');
    expect(served.lines.at(-1)).toContain('pipelined');
    expect((await add(log.asks({ oldSize: 5, size: 5 }))).status).toBe(200);
    const cosigned = served.lines.filter((line) => line.includes('cosigned')).length - before;
    expect(cosigned).toBeLessThanOrEqual(2);
  });

  it('that ends early is answered nothing, and stops nobody', async () => {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.end(`${head}Content-Length: 100\r\n\r\nold 5`);
    await text(socket);
    expect((await add(log.asks({ oldSize: 5, size: 5 }))).status).toBe(200);
  });

  it('of a hundred false lines of a known key costs one verification', async () => {
    const key = SigningKey.generate();
    let verified = 0;
    const watched = new TrustedLogs([ed25519NoteSigner(ORIGIN, key).vkey], []);
    const counting = Object.assign(Object.create(watched) as TrustedLogs, {
      keysOf: (origin: string) =>
        watched.keysOf(origin).map((known) => ({
          ...known,
          verify: (note: string, signature: Uint8Array) => {
            verified += 1;
            return known.verify(note, signature);
          },
        })),
    });
    const other = await serveHere(counting);
    const signers = Array.from({ length: 100 }, (_, at) => ({
      ...ed25519NoteSigner(ORIGIN, key),
      sign: () => new Uint8Array(64).fill(at + 1),
    }));
    const body = new Uint8Array(await log.asks({ oldSize: 0, size: 5, signers }));
    const { status } = await fetch(`${other.url}/add-checkpoint`, { method: 'POST', body });
    await other.close();
    expect([status, verified]).toEqual([403, 1]);
  });

  it('writes no file, whatever origins it names, and few lines', async () => {
    const before = served.lines.length;
    for (let at = 0; at < 100; at += 1) {
      await add(log.asks({ oldSize: 0, size: 1, origin: `../../${'x'.repeat(at)}` }));
    }
    expect(await readdir(join(served.directory, 'logs'))).toEqual([originHashOf(ORIGIN)]);
    expect(served.lines.length - before).toBeLessThan(60);
  });
});
