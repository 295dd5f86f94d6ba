import { DomainError } from '#libs/domain/kernel';
import { GrowingBuffer } from '#libs/infra/runtime';
import type { Exchange } from './exchange.js';
import type { RouteEntry } from './route-table.js';
import { tooLarge } from './transport-checks.js';

/**
 * Reads the body, only now that the guard has let the request through: what is refused earlier stays in the socket.
 * @throws {DomainError} request_too_large, as soon as the first byte too many has arrived
 */
export const readBody = async (exchange: Exchange, route: RouteEntry): Promise<Uint8Array> => {
  const { request, clientGone } = exchange;
  // RFC 9110, section 10.1.1: a client that asked first sends its body only after this.
  if (exchange.awaitsContinue) exchange.response.writeContinue();
  const body = new GrowingBuffer();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      clientGone.removeEventListener('abort', onLost);
      request.pause();
    };
    const onData = (chunk: Buffer): void => {
      if (body.byteLength + chunk.byteLength <= route.maxBodyBytes) {
        body.append(chunk);
        return;
      }
      stop();
      reject(new DomainError('request_too_large', { message: tooLarge(route) }));
    };
    const onEnd = (): void => {
      stop();
      resolve(body.bytes());
    };
    // The client is gone, or the server cut a body that came too slowly: there is nobody to answer.
    const onLost = (): void => {
      stop();
      reject(
        new DomainError('validation_failed', { message: 'The body ended before it was complete. Send it again.' }),
      );
    };
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    // A client that is told it was too slow sends the request again. Nothing of this request may then run beside that
    // one.
    clientGone.addEventListener('abort', onLost);
    if (clientGone.aborted) onLost();
  });
};
