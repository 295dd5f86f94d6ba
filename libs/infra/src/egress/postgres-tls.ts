import type { Socket } from 'node:net';

import type { EndSignal } from '#libs/domain/kernel';

import { EgressFailure } from './egress-failure.js';

/** PostgreSQL documentation, Message Formats, SSLRequest: its length, and the code 80877103. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const WILLING = 'S'.charCodeAt(0);

/** The server speaks no TLS, or something else than PostgreSQL. */
export class NoTlsOffered extends Error {
  override readonly name = 'NoTlsOffered';
}

/**
 * Asks a PostgreSQL server whether it will speak TLS. Resolves when it will, and nothing but its yes was read.
 * @throws {EgressFailure} untrusted: it will not, or it sent more than one byte, which somebody on the way may have put
 * there to be read as if it had come encrypted (CVE-2021-23222); timeout
 */
export const askForTls = (socket: Socket, signal: EndSignal, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const finish = (failure: EgressFailure | null): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      socket.pause();
      if (failure === null) resolve();
      else reject(failure);
    };
    const onData = (chunk: Buffer): void => {
      const isYes = chunk.byteLength === 1 && chunk[0] === WILLING;
      finish(isYes ? null : new EgressFailure('untrusted', false, { cause: new NoTlsOffered() }));
    };
    const onClose = (): void => finish(new EgressFailure('unreachable', false));
    const onAbort = (): void => finish(new EgressFailure('timeout', false));
    const timer = setTimeout(onAbort, timeoutMs);
    socket.on('data', onData).once('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else socket.write(TLS_REQUEST);
  });
