/** How long one call of a log keeps trying while the server does not answer, unless somebody says otherwise. */
export const STORE_DEADLINE_MS = 5_000;
