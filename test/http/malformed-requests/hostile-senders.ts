import type { Socket } from 'node:net';
import { RawConnection } from '../raw-http.js';

const MEGABYTE = new Uint8Array(1_048_576).fill(0x20);
const CHUNK = Buffer.concat([Buffer.from('100000\r\n'), MEGABYTE, Buffer.from('\r\n')]);

const written = (socket: Socket, bytes: Uint8Array | string): Promise<void> =>
  new Promise((resolve) => socket.write(bytes, () => resolve()));

/** Sends a body to its end or until the connection is cut, whatever is answered meanwhile; gives the status. */
const stream = async (port: number, head: string, piece: Uint8Array, count: number): Promise<number> => {
  const connection = await RawConnection.open(port);
  connection.send(head);
  for (let sent = 0; sent < count && !connection.socket.destroyed; sent += 1) await written(connection.socket, piece);
  const { status } = await connection.answer();
  connection.close();
  return status;
};

/** Bodies of 100 MB: the first half declared, the second in chunks. Gives their statuses. */
export const streamBodies = (port: number, key: string, count: number): Promise<readonly number[]> => {
  const head = `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const declared = `${head}Content-Length: ${100 * MEGABYTE.byteLength}\r\n\r\n`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      index < count / 2 ? stream(port, declared, MEGABYTE, 100) : stream(port, chunked, CHUNK, 100),
    ),
  );
};

/** Connections that send a byte now and then, half of them of a header and half of a body. Gives what ends them. */
export const trickle = async (port: number, key: string, count: number): Promise<() => void> => {
  const senders = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  const body = `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`;
  senders.forEach((sender, index) => sender.send(index % 2 ? body : 'GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: '));
  const timer = setInterval(() => {
    for (const sender of senders) if (!sender.socket.destroyed) sender.send('a');
  }, 100);
  return () => {
    clearInterval(timer);
    for (const sender of senders) sender.close();
  };
};

/** Clients that send 20,000 requests ahead at once. Gives how many were answered, for each. */
export const flood = (port: number, key: string, count: number): Promise<readonly number[]> => {
  const requests = `GET /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(20_000);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await RawConnection.open(port);
      connection.send(requests);
      const answers = await connection.untilClosed();
      connection.close();
      return answers.split('HTTP/1.1 200 ').length - 1;
    }),
  );
};
