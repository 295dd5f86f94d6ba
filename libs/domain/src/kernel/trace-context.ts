/**
 * The trace of whoever calls, as far as it goes on with what is done for it (W3C Trace Context, section 3.2: header
 * `traceparent`).
 */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all of them 0. */
  readonly id: string;
  /** Whether the caller records the trace. Other flags are not passed on: version 00 has none. */
  readonly sampled: boolean;
}

/** Of version 00, and the beginning of any later one. The field of the version itself is two digits, and never ff. */
const FIELDS = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]([0-9a-f])(-.*)?$/;
const VERSION_0_LENGTH = 55;

/** Null where none was sent, or nothing that can be gone on with: a trace is never a reason to refuse a call. */
export const traceContextOf = (headers: readonly string[]): TraceContext | null => {
  const [header] = headers;
  if (header === undefined || headers.length > 1) return null;
  const fields = FIELDS.exec(header);
  if (fields === null || (header.startsWith('00') && header.length !== VERSION_0_LENGTH)) return null;
  const [, id = '', flags = ''] = fields;
  return { id, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

/**
 * The header for what goes on from here.
 * @param parent names what the service does, 16 lower-case hexadecimal digits, not all of them 0
 */
export const traceparentOf = ({ id, sampled }: TraceContext, parent: string): string =>
  `00-${id}-${parent}-0${sampled ? 1 : 0}`;
