/**
 * libpq's name for the setting that only SCRAM is accepted. `pg` does not know it: by itself it answers whatever form
 * of password the server asks for.
 */
export const SCRAM_ONLY = ['require_auth', 'scram-sha-256'] as const;

/**
 * The connection string, with the setting that the server must use SCRAM: it proves that it knows the password, and
 * never learns it.
 */
export const withScramOnly = (connectionString: string): string => {
  const address = new URL(connectionString);
  address.searchParams.set(...SCRAM_ONLY);
  return address.href;
};
