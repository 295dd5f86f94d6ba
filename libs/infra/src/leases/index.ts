export { HeldLease, type LeaseSession, PostgresLeases } from './postgres-leases.js';
export { absentOf, ProcessPresence } from './process-presence.js';
