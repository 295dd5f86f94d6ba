import type { FieldPath } from './described-places.js';

/** JSON text that goes into a body as it is, whether or not it is JSON. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A request before it is written down, so that several things can be wrong with it at once. */
export interface Draft {
  readonly method: string;
  /** As in the request line, one character a byte. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as members; null for none. Anything JSON, and `RawJson` anywhere in it. */
  readonly json: unknown;
  /** The body as bytes, in place of `json`. */
  readonly bytes: Buffer | null;
  /** Lines that go out between the headers and the empty line as they are. */
  readonly rawLines: string;
  /** Whether the sender ends its side when all is sent, unless that is all it has promised. */
  readonly endsSending: boolean;
}

const textOf = (value: unknown): string => {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`)
    .join(',')}}`;
};

export const bodyOf = ({ json, bytes }: Draft): Buffer | null =>
  bytes ?? (json === null ? null : Buffer.from(textOf(json)));

export const bytesOf = (draft: Draft): Buffer => {
  const body = bodyOf(draft);
  const names = draft.headers.map(([name]) => name.toLowerCase());
  const isFramed = names.includes('content-length') || names.includes('transfer-encoding');
  const lines = draft.headers.map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== null && !isFramed) lines.push(`Content-Length: ${body.byteLength}\r\n`);
  const head = `${draft.method} ${draft.target} HTTP/1.1\r\n${lines.join('')}${draft.rawLines}Connection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
};

/** Who ends after a whole request is taken for gone and gets no answer: only one that was cut off gets its 400. */
export const isCutOff = (draft: Draft): boolean => {
  const sentBytes = bodyOf(draft)?.byteLength ?? 0;
  // Another damage has taken the chunks away: nothing would ever end the body.
  if (sentBytes === 0 && headerOf(draft, 'transfer-encoding') === 'chunked') return true;
  return draft.endsSending && !(Number(headerOf(draft, 'content-length')) <= sentBytes);
};

const headerOf = ({ headers }: Draft, name: string): string | undefined =>
  headers.find(([other]) => other.toLowerCase() === name)?.[1];

export const withHeader = (draft: Draft, name: string, ...values: readonly string[]): Draft => {
  const others = draft.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return { ...draft, headers: [...others, ...values.map((value) => [name, value] as const)] };
};

/** The draft with a value at a place of its body; whatever is in the way gives way. `undefined` removes it. */
export const withField = (draft: Draft, path: FieldPath, value: unknown): Draft => ({
  ...draft,
  json: placed(draft.json, path, value),
});

const placed = (container: unknown, [step, ...rest]: FieldPath, value: unknown): unknown => {
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(container) ? [...(container as unknown[])] : [];
    list[step] = placed(list[step], rest, value);
    return list.filter((item) => item !== undefined);
  }
  const isObject = typeof container === 'object' && container !== null && !(container instanceof RawJson);
  const members: Record<string, unknown> = isObject ? { ...container } : {};
  members[step] = placed(members[step], rest, value);
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
};
