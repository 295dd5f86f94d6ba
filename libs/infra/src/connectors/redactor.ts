import type { JsonObject, JsonValue } from '#libs/crypto';
import { REDACTED } from '#libs/domain/connectors';

import { decodedViews, endOf, hasOtherReadings, unitsOf } from './escape-views.js';
import { NeedleSearch, type Span } from './needle-search.js';

/** A shorter value is part of too many innocent words: it is redacted where it stands alone. */
const MIN_PART_CHARACTERS = 4;
/** Of a base64 text that holds the secret at some offset: shorter cores are in too many others. */
const MIN_CORE_CHARACTERS = 8;
/** A search for more would hold the event loop for too long while it is built. */
export const MAX_SECRETS = 4_096;

/** An answer may have a hundred thousand of these: they are looked through as they are, without a copy. */
const SHORT_CHARACTERS = 256;

/** Of an encoded form that is written with gaps: six bytes in hex, nine in base64. */
const MIN_JOINED_CHARACTERS = 12;

const NO_MEMBERS: ReadonlySet<string> = new Set();

/**
 * Removes a call's secrets from what is kept of its answer: raw and in lower case, base64 at every offset and in lines,
 * credentials also in base64 of it, hex with or without something between its bytes, as UTF-8 that was read as Latin-1,
 * and with the escapes of JSON, URLs, forms and HTML undone. It works on whole decoded values, so it does not matter
 * how the upstream cut its chunks (rule REST-13). Time is linear in the answer and the secrets, because both may come
 * from somebody hostile. With more than {@link MAX_SECRETS} different ones nothing of the answer is kept that could
 * hold one: no text, name or number.
 */
export class Redactor {
  private readonly parts: NeedleSearch;
  private readonly wholes: ReadonlySet<string>;
  private readonly keepsNothing: boolean;

  /**
   * Credential values as they travel and as they were stored; values of sensitive arguments; names of members whose texts
   * are secrets of the answer itself.
   */
  constructor(
    credentials: readonly string[],
    sensitive: readonly JsonValue[],
    private readonly members: ReadonlySet<string> = NO_MEMBERS,
  ) {
    const secrets = new Set([...credentials, ...sensitive.flatMap(textsIn)].filter((text) => text !== ''));
    this.wholes = secrets;
    this.keepsNothing = secrets.size > MAX_SECRETS;
    const searched = this.keepsNothing ? [] : [...secrets].filter((text) => text.length >= MIN_PART_CHARACTERS);
    const twice = this.keepsNothing ? [] : credentials.filter((text) => text.length >= MIN_PART_CHARACTERS);
    this.parts = new NeedleSearch([...searched.flatMap(formsOf), ...twice.flatMap(twiceEncodedForms)]);
  }

  /** Whether a text that is not read as JSON names a member whose text is a secret: then nothing of it can be kept. */
  namesSecretMember(text: string): boolean {
    return [...this.members].some((name) => text.includes(name));
  }

  /** What secrets cover, alone or overlapping, becomes one {@link REDACTED}: nothing of a second one is left behind. */
  text(text: string): string {
    if (this.wholes.size === 0) return text;
    if (this.keepsNothing || this.wholes.has(text)) return REDACTED;
    if (text.length <= SHORT_CHARACTERS && !hasOtherReadings(text) && !this.parts.isIn(text)) return text;
    const spans = [...this.parts.spansIn(unitsOf(text))];
    for (const view of decodedViews(text)) {
      // Longer ones are found as parts.
      const isShort = view.units.length < MIN_PART_CHARACTERS;
      if (isShort && this.wholes.has(String.fromCharCode(...view.units))) return REDACTED;
      for (const { start, end } of this.parts.spansIn(view.units)) {
        // A short secret would be found in ordinary text that happens to be spaced.
        if (view.hasGaps && end - start < MIN_JOINED_CHARACTERS) continue;
        spans.push({ start: view.starts[start] ?? 0, end: endOf(view, end - 1) });
      }
    }
    return spans.length === 0 ? text : withoutSpans(text, spans);
  }

  /** Strings, member names, and numbers that read like a secret. */
  json(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value);
    if (Array.isArray(value)) return value.map((entry) => this.json(entry));
    return value !== null && typeof value === 'object' ? this.object(value) : value;
  }

  private number(value: number): number | string {
    const text = String(value);
    return this.text(text) === text ? value : REDACTED;
  }

  private object(value: JsonObject): JsonObject {
    // Its names would all become one.
    if (this.keepsNothing && Object.keys(value).length > 0) return { [REDACTED]: REDACTED };
    // Without a prototype a member named __proto__ is a member like any other.
    const redacted = Object.create(null) as JsonObject;
    for (const name in value) {
      const member = value[name] ?? null;
      redacted[this.text(name)] = typeof member === 'string' && this.members.has(name) ? REDACTED : this.json(member);
    }
    return redacted;
  }
}

const withoutSpans = (text: string, spans: readonly Span[]): string => {
  const kept: string[] = [];
  let keptUpTo = 0;
  for (const { start, end } of [...spans].sort((one, other) => one.start - other.start || other.end - one.end)) {
    if (start >= keptUpTo) kept.push(text.slice(keptUpTo, start), REDACTED);
    keptUpTo = Math.max(keptUpTo, end);
  }
  return kept.join('') + text.slice(keptUpTo);
};

/** What of an argument can be recognised again: texts and numbers, however deep. */
const textsIn = (value: JsonValue): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap(textsIn);
};

const formsOf = (secret: string): readonly string[] => {
  // Two bytes in front: base64 begins at each of the three offsets without a copy.
  const padded = Buffer.from(`\0\0${secret}`);
  const hex = padded.toString('hex', 2);
  // Text that is no Unicode travels with replacement characters.
  const texts = [secret, padded.toString('utf8', 2), ...misreadForms(padded)];
  // The names of header fields are read in lower case.
  return [...texts, secret.toLowerCase(), hex, hex.toUpperCase(), ...base64Forms(padded)];
};

/** Base64 of base64: a credential has at most 16 KiB, where sensitive arguments may have 256. */
const twiceEncodedForms = (secret: string): readonly string[] =>
  base64Forms(Buffer.from(`\0\0${secret}`)).flatMap((form) => base64Forms(Buffer.from(`\0\0${form}`)));

const WINDOWS_1252 = new TextDecoder('windows-1252');

/** As UTF-8 reads where a byte is taken for a character: in header values, and in bodies that say they are Latin-1. */
const misreadForms = (padded: Buffer): readonly string[] => {
  const bytes = padded.subarray(2);
  return bytes.some((byte) => byte > 0x7f) ? [bytes.toString('latin1'), WINDOWS_1252.decode(bytes)] : [];
};

/** The secret alone, and the part of it that does not depend on its neighbours when it stands inside other bytes. */
const base64Forms = (padded: Buffer): readonly string[] => {
  const alone = padded.toString('base64', 2);
  const forms = [alone];
  const padding = alone.indexOf('=');
  if (padding >= 0) forms.push(alone.slice(0, padding));
  for (let offset = 0; offset < 3; offset += 1) {
    const isLastShared = (offset + padded.byteLength - 2) % 3 !== 0;
    const text = padded.toString('base64url', 2 - offset);
    const firstOwn = Math.ceil((offset * 8) / 6);
    const core = text.slice(firstOwn, isLastShared ? -1 : undefined);
    if (core.length >= MIN_CORE_CHARACTERS) forms.push(core);
  }
  return forms.flatMap((form) => (/[+/_-]/.test(form) ? [asBase64(form), asBase64url(form)] : [form]));
};

const asBase64 = (form: string): string => form.replaceAll('-', '+').replaceAll('_', '/');
const asBase64url = (form: string): string => form.replaceAll('+', '-').replaceAll('/', '_');
