/** The API versions that this service serves, each named by its date, oldest first. */
export const SERVED_API_VERSIONS: readonly [string, ...string[]] = ['2026-10-01'];

/** The version that a new organization is pinned to. */
export const LATEST_API_VERSION = SERVED_API_VERSIONS[SERVED_API_VERSIONS.length - 1] as string;
