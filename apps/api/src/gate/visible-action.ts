import { DomainError, parseId } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import type { ActionReader, ReadAction } from './action-reader.js';

/**
 * The action that a path names. An agent sees only its own actions; another agent's action is answered like one that
 * does not exist.
 * @throws {DomainError} not_found
 */
export const visibleAction = async (
  reader: Pick<ActionReader, 'read'>,
  idText: string,
  exchange: Exchange,
): Promise<ReadAction> => {
  const { caller } = exchange;
  const id = parseId('act', idText);
  const read = id && (await reader.read(id, caller.org));
  if (!read || (caller.kind === 'agent' && read.action.submission.agent !== caller.agent)) {
    throw new DomainError('not_found');
  }
  exchange.actionId = id;
  return read;
};
