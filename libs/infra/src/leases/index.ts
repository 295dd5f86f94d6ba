export { HeldLease, type LeaseSession, PostgresLeases } from './postgres-leases.js';
