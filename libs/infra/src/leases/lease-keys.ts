/** The text whose hash is the number of a lease's advisory lock. */
export const keyOf = (lease: string): string => `lease:${lease}`;

/** Of a row `held` of pg_locks: whether it is the lock of the lease with this key, granted to a session. @param key SQL */
export const isLockOf = (key: string): string => `held.locktype = 'advisory' and held.granted and held.objsubid = 1
    and held.database = (select oid from pg_database where datname = current_database())
    and (held.classid::bigint << 32) | held.objid::bigint = hashtextextended(${key}, 0)`;

/** Whether a session holds the lease with this key. @param key SQL */
export const isHeld = (key: string): string => `exists (select from pg_locks held where ${isLockOf(key)})`;
