export { HeldLease, PostgresLeases } from './postgres-leases.js';
