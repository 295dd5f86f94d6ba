/** The text whose hash is the number of a lease's advisory lock. */
export const keyOf = (lease: string): string => `lease:${lease}`;

/**
 * An SQL condition: whether the row `held` of pg_locks is the lock of a lease, granted to a session.
 * @param key an SQL expression for the text of {@link keyOf}
 */
export const isLockOf = (key: string): string => `held.locktype = 'advisory' and held.granted and held.objsubid = 1
    and held.database = (select oid from pg_database where datname = current_database())
    and (held.classid::bigint << 32) | held.objid::bigint = hashtextextended(${key}, 0)`;

/**
 * An SQL condition: whether a session holds a lease.
 * @param key an SQL expression for the text of {@link keyOf}
 */
export const isHeld = (key: string): string => `exists (select from pg_locks held where ${isLockOf(key)})`;
