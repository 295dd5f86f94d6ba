/** A place in a write-ahead log as PostgreSQL writes it, `X/Y` in hexadecimal digits (pg_lsn): bytes since its begin. */
const LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;

/** @throws {RangeError} it is no such place */
export const bytesOfLsn = (lsn: string): bigint => {
  const [, high, low] = LSN.exec(lsn) ?? [];
  if (high === undefined || low === undefined) throw new RangeError('not a place in a write-ahead log');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
};

/** Whether everything before `place` was read by whoever has read up to `position`. */
export const hasPassed = (position: string, place: string): boolean => bytesOfLsn(position) >= bytesOfLsn(place);
