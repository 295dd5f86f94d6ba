import pg from 'pg';

const ENDER = 'ender of sessions';

/** Ends everybody else's connections to a database, again and again, until there are none to end. */
export const endAllSessions = async (connectionString: string, afterEach: () => Promise<void>): Promise<void> => {
  const client = new pg.Client({ connectionString, application_name: ENDER });
  await client.connect();
  try {
    for (let areLeft = true; areLeft; await afterEach()) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name is distinct from $1`,
        [ENDER],
      );
      areLeft = (rowCount ?? 0) > 0;
    }
  } finally {
    await client.end();
  }
};
