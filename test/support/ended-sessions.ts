import pg from 'pg';

const ENDER = 'ender of sessions';

/**
 * Ends everybody else's connections to a database, again and again, until there are none to end.
 *
 * @param afterEach tells whether one may still come: a server shows no session of a connection that is being made
 */
export const endAllSessions = async (connectionString: string, afterEach: () => Promise<boolean>): Promise<void> => {
  const client = new pg.Client({ connectionString, application_name: ENDER });
  await client.connect();
  try {
    for (let areLeft = true; areLeft;) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name is distinct from $1`,
        [ENDER],
      );
      const mayCome = await afterEach();
      areLeft = mayCome || (rowCount ?? 0) > 0;
    }
  } finally {
    await client.end();
  }
};
