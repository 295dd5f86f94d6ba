/** libpq's name for it. `pg` knows no such setting: it answers a server in whatever form that asks for. */
export const SCRAM_ONLY = ['require_auth', 'scram-sha-256'] as const;

/** The same database, whose server must prove by SCRAM that it knows the password, and never learns it. */
export const withScramOnly = (connectionString: string): string => {
  const address = new URL(connectionString);
  address.searchParams.set(...SCRAM_ONLY);
  return address.href;
};
