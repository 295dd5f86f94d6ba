/** Stands in what is kept of an answer for each secret that was removed. */
export const REDACTED = '[redacted]';
