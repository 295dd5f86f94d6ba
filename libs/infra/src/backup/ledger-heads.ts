import { answered, DatabaseClient } from '../postgres/index.js';
import type { LedgerHead } from './backup-manifest.js';

export interface LogHead {
  /** Position of the last event; -1 for an empty log. */
  readonly head: number;
  readonly ledgers: readonly LedgerHead[];
}

const LEDGERS = `
select last.stream, e.revision, e.data
  from (select stream, max(revision) as revision from event_store.events
         where stream >= 'ledger-' and stream < 'ledger.' group by stream) as last
  join event_store.events e on e.stream = last.stream and e.revision = last.revision
 order by last.stream`;

/** How far a log and the ledgers in it go. */
export const readLogHead = async (connectionString: string): Promise<LogHead> => {
  const client = new DatabaseClient({ connectionString, application_name: 'ags cli' });
  await answered(client.connect());
  try {
    const head = await answered(
      client.query<{ head: string }>('select coalesce(max(position), -1)::text as head from event_store.events'),
    );
    const { rows } = await answered(client.query<{ stream: string; revision: string; data: string }>(LEDGERS));
    const ledgers = rows.map(({ stream, revision, data }) => ({
      org: stream.slice('ledger-'.length),
      seq: Number(revision) + 1,
      body_hash: (JSON.parse(data) as { body_hash: string }).body_hash,
    }));
    return { head: Number(head.rows[0]?.head ?? -1), ledgers };
  } finally {
    await client.end();
  }
};
