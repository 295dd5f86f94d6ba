import type { DataSource } from 'typeorm';
import type { NeededPublicEvents } from '../read-models/index.js';

/**
 * What no delivery was made of yet stays, whatever its age: a worker that was away for longer than public events are kept
 * finds it. A checkpoint of another store needs nothing: what is folded once more goes back no further than that.
 */
export const neededByWebhooks =
  (source: Pick<DataSource, 'query'>): NeededPublicEvents =>
  async (storeId) => {
    const [found] = await source.query<{ seq: string }[]>(
      `select seq from webhooks.checkpoint where name = 'deliveries' and store_id = $1`,
      [storeId],
    );
    return found === undefined ? null : BigInt(found.seq) + 1n;
  };
