import { plainAnswer } from '../error-codes/stage.js';
import { RawConnection } from '../raw-http.js';
import type { Answer } from '../../support/service.js';
import { bytesOf, type Draft, isCutOff } from './draft.js';

const PATIENCE_MS = 20_000;

/** One request on a connection of its own. Null when the service ended the connection, or kept silent, without an answer. */
export const exchange = async (port: number, draft: Draft): Promise<Answer | null> => {
  const connection = await RawConnection.open(port);
  const deadline = setTimeout(() => connection.close(), PATIENCE_MS);
  try {
    connection.send(bytesOf(draft));
    if (isCutOff(draft)) connection.socket.end();
    let answer = await connection.answer({ isHead: draft.method === 'HEAD' });
    // 100 Continue announces the answer.
    while (answer.status === 100) answer = await connection.answer();
    return plainAnswer(answer);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('the connection ended')) return null;
    throw error;
  } finally {
    clearTimeout(deadline);
    connection.close();
  }
};
