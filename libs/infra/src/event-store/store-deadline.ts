/** By default, how long one call of an event store is retried while the server does not answer. */
export const STORE_DEADLINE_MS = 5_000;
