import type pg from 'pg';

/**
 * Makes a role that is nothing but the owner of an empty database, as an operator does for a service.
 *
 * @param superuser connected to the database, in which everything that a test database begins with is removed
 * @param role new; gone with the server of the run
 * @returns the connection string of the role, whose password is its name
 */
export const giveToRole = async (superuser: pg.Client, connectionString: string, role: string): Promise<string> => {
  const url = new URL(connectionString);
  await superuser.query(`
    drop schema event_store, schema_steps cascade;
    create role ${role} login password '${role}';
    alter database ${url.pathname.slice(1)} owner to ${role}`);
  return Object.assign(url, { username: role, password: role }).href;
};
