import type { JsonObject, JsonValue } from '#libs/crypto';

export const REDACTED = '[redacted]';

/** A shorter value is part of too many innocent words: it is redacted where it stands alone. */
const MIN_PART_CHARACTERS = 4;
/** Of a base64 text that holds the secret at some offset: shorter cores are in too many others. */
const MIN_CORE_CHARACTERS = 8;

/**
 * Removes a call's secrets from what is kept of its answer: raw, JSON-escaped, URL-encoded, base64 at every offset, hex.
 * It works on whole decoded values, so it does not matter how the upstream cut its chunks.
 */
export class Redactor {
  /** Longest first: a form that begins another must not leave the other's end behind. */
  private readonly parts: readonly string[];
  private readonly wholes: ReadonlySet<string>;

  /** Credential values as they travel and as they were stored; values of sensitive arguments. */
  constructor(credentials: readonly string[], sensitive: readonly JsonValue[]) {
    const secrets = [...credentials, ...sensitive.flatMap(textsIn)].filter((text) => text !== '');
    const forms = new Set(secrets.filter((text) => text.length >= MIN_PART_CHARACTERS).flatMap(formsOf));
    this.parts = [...forms].sort((one, other) => other.length - one.length);
    this.wholes = new Set(secrets);
  }

  text(text: string): string {
    if (this.wholes.has(text)) return REDACTED;
    let kept = text;
    for (const part of this.parts) if (kept.includes(part)) kept = kept.replaceAll(part, REDACTED);
    return kept;
  }

  /** Strings, member names, and numbers that read like a secret. */
  json(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : REDACTED;
    if (Array.isArray(value)) return value.map((entry) => this.json(entry));
    return value !== null && typeof value === 'object' ? this.object(value) : value;
  }

  private object(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.json(member)]));
  }
}

/** What of an argument can be recognised again: texts and numbers, however deep. */
const textsIn = (value: JsonValue): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap(textsIn);
};

const formsOf = (secret: string): readonly string[] => {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(Buffer.from(secret).toString());
  const strictUrl = url.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const hex = Buffer.from(secret).toString('hex');
  const urls = [url, strictUrl].flatMap((form) => [form, form.replaceAll('%20', '+')]);
  return [
    secret,
    json,
    json.replaceAll('/', String.raw`\/`),
    ...urls,
    ...urls.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    hex,
    hex.toUpperCase(),
    ...base64Forms(Buffer.from(secret)),
  ];
};

/** The secret alone, and the part of it that does not depend on its neighbours when it stands inside other bytes. */
const base64Forms = (secret: Buffer): readonly string[] => {
  const alone = secret.toString('base64');
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), secret])
      .toString('base64')
      .replaceAll('=', '');
    const firstOwn = Math.ceil((offset * 8) / 6);
    const isLastShared = (offset + secret.byteLength) % 3 !== 0;
    return text.slice(firstOwn, isLastShared ? -1 : undefined);
  });
  const forms = [alone, alone.replaceAll('=', ''), ...cores.filter((core) => core.length >= MIN_CORE_CHARACTERS)];
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
};
