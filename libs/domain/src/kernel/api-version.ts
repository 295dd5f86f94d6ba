/** Dates of the interface that this service serves, oldest first. */
export const SERVED_API_VERSIONS: readonly [string, ...string[]] = ['2026-10-01'];

/** What an organization is pinned to when it is made. */
export const LATEST_API_VERSION = SERVED_API_VERSIONS[SERVED_API_VERSIONS.length - 1] as string;
