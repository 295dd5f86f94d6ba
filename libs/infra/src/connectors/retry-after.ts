const DELAY_SECONDS = /^\d{1,10}$/;
/** RFC 9110, 5.6.7: the one form senders may use. */
const IMF_FIXDATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Milliseconds that a Retry-After asks for (RFC 9110, 10.2.3); null when it says nothing, or nothing intelligible. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | null => {
  const text = header?.trim() ?? '';
  if (DELAY_SECONDS.test(text)) return Number(text) * 1_000;
  if (!IMF_FIXDATE.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
};
