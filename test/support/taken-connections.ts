import pg from 'pg';

const SOMEBODY_ELSE = 'somebody else';
const TOO_MANY = '53300';

const connected = async (connectionString: string): Promise<pg.Client | null> => {
  const client = new pg.Client({ connectionString, application_name: SOMEBODY_ELSE });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    if ((error as { code?: unknown }).code === TOO_MANY) return null;
    throw error;
  }
};

/**
 * Every connection that a PostgreSQL has, those of the service too: each that it loses is taken before it can be had again.
 * @returns how to give them back
 */
export const takeAllConnections = async (connectionString: string): Promise<() => Promise<void>> => {
  const taken: pg.Client[] = [];
  for (let freed = true; freed;) {
    for (let client = await connected(connectionString); client !== null; client = await connected(connectionString)) {
      taken.push(client);
    }
    const ended = await taken[0]!.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and application_name is distinct from $1`,
      [SOMEBODY_ELSE],
    );
    freed = (ended.rowCount ?? 0) > 0;
  }
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
};
