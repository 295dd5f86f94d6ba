import type pg from 'pg';

/** libpq's name for it. `pg` knows no such setting: it answers a server in whatever form that asks for. */
const SCRAM_ONLY = ['require_auth', 'scram-sha-256'] as const;

/** The same database, whose server must prove by SCRAM that it knows the password, and never learns it. */
export const withScramOnly = (connectionString: string): string => {
  const address = new URL(connectionString);
  address.searchParams.set(...SCRAM_ONLY);
  return address.href;
};

/**
 * Makes a client keep the password to itself where its connection string says so: whoever took the port of a server that
 * ended could ask for it in the clear, or hashed with a salt of his own.
 */
export const keepScramOnly = (client: pg.Client, connectionString: string | undefined): void => {
  const [name, value] = SCRAM_ONLY;
  if (connectionString === undefined || !connectionString.includes(name)) return;
  if (new URL(connectionString).searchParams.get(name) !== value) return;
  const { connection } = client as unknown as {
    connection: { password(text: string): void; emit(event: 'error', error: Error): boolean };
  };
  // What both other forms end in; SCRAM has messages of its own.
  connection.password = () => {
    connection.emit('error', new Error('the server asked for the password in another form than SCRAM'));
  };
};
