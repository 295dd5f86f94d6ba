/**
 * The trace of the caller, as far as the service continues it in its own calls (W3C Trace Context, section 3.2: header
 * `traceparent`).
 */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all of them 0. */
  readonly id: string;
  /** Whether the caller records the trace. Other flags are not passed on, because version 00 defines none. */
  readonly sampled: boolean;
}

/**
 * A `traceparent` of version 00; a header of a later version begins in the same way. The version is two digits, and
 * never ff.
 */
const FIELDS = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]([0-9a-f])(-.*)?$/;
const VERSION_0_LENGTH = 55;

/** Null if no valid trace was sent. A bad header is ignored: it is never a reason to refuse a call. */
export const traceContextOf = (headers: readonly string[]): TraceContext | null => {
  const [header] = headers;
  if (header === undefined || headers.length > 1) return null;
  const fields = FIELDS.exec(header);
  if (fields === null || (header.startsWith('00') && header.length !== VERSION_0_LENGTH)) return null;
  const [, id = '', flags = ''] = fields;
  return { id, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

/**
 * The header for a call of the service that belongs to the trace.
 * @param parent names the service's own part of the trace, 16 lower-case hexadecimal digits, not all of them 0
 */
export const traceparentOf = ({ id, sampled }: TraceContext, parent: string): string =>
  `00-${id}-${parent}-0${sampled ? 1 : 0}`;
