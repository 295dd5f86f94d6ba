/** RFC 3339 in UTC with milliseconds, the only written form of an instant (rule FORM-2). */
export type Timestamp = string;

const TIMESTAMP_PATTERN =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export const timestampOf = (epochMs: number): Timestamp => new Date(epochMs).toISOString();

export const epochMsOf = (timestamp: Timestamp): number => Date.parse(timestamp);

/**
 * The instant a client wrote, in Unix milliseconds (finer fractions are cut), or null if it is no RFC 3339 date-time.
 * Refuses a day that does not exist, such as February 30, which `Date.parse` would turn into another day; any
 * lower-case or zone-less form; and an instant that its offset moves out of the years 1 to 9999, because no deed could
 * hold it.
 */
export const parseTimestamp = (text: string): number | null => {
  if (!TIMESTAMP_PATTERN.test(text)) return null;
  const epochMs = Date.parse(text);
  if (Number.isNaN(epochMs)) return null;
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const yearInUtc = new Date(epochMs).getUTCFullYear();
  return year > 0 && day <= daysInMonth && yearInUtc >= 1 && yearInUtc <= 9999 ? epochMs : null;
};
