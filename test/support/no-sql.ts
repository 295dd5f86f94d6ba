import type { DriverTools } from '#libs/infra/connectors';

/** For benches without databases: loading PostgreSQL's grammar takes each of their files some 50 ms. */
export const NO_SQL: DriverTools['sql'] = { read: () => ({ ok: false, refusal: 'No statement is read here.' }) };
