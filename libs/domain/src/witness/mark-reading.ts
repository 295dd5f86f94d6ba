import { isMarkOf, readActionMark } from '#libs/crypto';
import type { LiveConnector, Vault } from '../connectors/index.js';
import { parseId } from '../kernel/index.js';
import type { MarkReader } from './witness-seams.js';

/**
 * Reads the marks of a connector's transactions by its key.
 * @throws {DomainError} vault_unavailable
 */
export const openMarkReader = async (
  vault: Pick<Vault, 'markKeyOf'>,
  { org, id: object }: Pick<LiveConnector, 'org' | 'id'>,
): Promise<MarkReader> => {
  const key = await vault.markKeyOf({ org, object });
  return {
    read: (text, xid) => {
      const mark = readActionMark(text);
      if (mark === null || !isMarkOf(key, mark, xid)) return null;
      const action = parseId('act', mark.action);
      return action && { action, attempt: mark.attempt };
    },
    destroy: () => void key.fill(0),
  };
};
