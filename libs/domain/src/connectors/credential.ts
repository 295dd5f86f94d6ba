import { type JsonObject, type JsonValue } from '#libs/crypto';

import { DomainError } from '../kernel/index.js';
import { isObject } from './config-reader.js';
import type { CredentialFacts, CredentialKind } from './connector.events.js';

/** Of the body that stores a credential. */
export const CREDENTIAL_BODY_MAX_BYTES = 16_384;

/** Members of a credential's `secret`, by kind. */
export const CREDENTIAL_FIELDS: Readonly<Record<CredentialKind, readonly string[]>> = {
  bearer: ['token'],
  header: ['value'],
  basic: ['username', 'password'],
  query: ['value'],
  database: ['username', 'password', 'witness_username', 'witness_password'],
  none: [],
};

/** Those of them that a `secret` may leave out: all of them together, or none. */
export const OPTIONAL_CREDENTIAL_FIELDS: Readonly<Partial<Record<CredentialKind, readonly string[]>>> = {
  database: ['witness_username', 'witness_password'],
};

const UNKNOWN_NAME_MAX_CHARACTERS = 64;

/** Visible ASCII in one piece: what may follow `Bearer `. */
const TOKEN = /^[\x21-\x7e]+$/;
const HEADER_LINE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const CONTROL = /\p{Cc}|\p{Surrogate}/u;

interface FieldRule {
  readonly isValid: (value: string) => boolean;
  readonly rule: string;
}

/** Of a name in PostgreSQL. */
const ROLE_NAME_MAX_BYTES = 63;
const ROLE_NAME: FieldRule = {
  isValid: (value) => !CONTROL.test(value) && Buffer.byteLength(value) <= ROLE_NAME_MAX_BYTES,
  rule: `the name of a role: at most ${ROLE_NAME_MAX_BYTES} bytes of text without control characters`,
};

const RULES: Readonly<Record<string, FieldRule>> = {
  'bearer.token': { isValid: (value) => TOKEN.test(value), rule: 'visible ASCII characters without spaces' },
  'header.value': {
    isValid: (value) => HEADER_LINE.test(value),
    rule: 'one line of visible ASCII characters without spaces at its ends',
  },
  'basic.username': {
    isValid: (value) => !CONTROL.test(value) && !value.includes(':'),
    rule: 'text without colons or control characters',
  },
  'basic.password': { isValid: (value) => !CONTROL.test(value), rule: 'text without control characters' },
  'query.value': { isValid: (value) => !CONTROL.test(value), rule: 'text without control characters' },
  'database.username': ROLE_NAME,
  'database.password': { isValid: (value) => !CONTROL.test(value), rule: 'text without control characters' },
  'database.witness_username': ROLE_NAME,
  'database.witness_password': { isValid: (value) => !CONTROL.test(value), rule: 'text without control characters' },
};

/** A secret shows its last characters only when many more stay hidden. */
const HINT_CHARACTERS = 4;
const HINT_MIN_SECRET_CHARACTERS = 20;

/** A checked credential. `values` are for the vault alone. */
export interface Credential {
  readonly facts: Omit<CredentialFacts, 'version'>;
  readonly values: ReadonlyMap<string, string>;
}

/**
 * Reads the write-only body `{kind, secret: {...}}`.
 * @throws {DomainError} validation_failed; param `kind`, `secret` or `secret.<field>`. The message never holds a value.
 */
export const readCredential = (kind: string, secret: JsonValue | undefined): Credential => {
  if (!isCredentialKind(kind)) {
    throw refusal('kind', `kind must be one of ${Object.keys(CREDENTIAL_FIELDS).join(', ')}.`);
  }
  const given = secret ?? {};
  if (!isObject(given)) throw refusal('secret', 'secret must be an object.');
  const fields = CREDENTIAL_FIELDS[kind];
  // A misspelt name is the cause of the one that is missing, so it is told first.
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw unknownField(kind, unknown, fields);
  const present = fieldsOf(kind, given);
  const values = new Map(present.map((field) => [field, readField(kind, field, given)]));
  const hinted = fields.findLast((field) => !isOptional(kind, field)) ?? '';
  return { facts: { kind, fields: present, hint: hintOf(values.get(hinted) ?? '') }, values };
};

const isOptional = (kind: CredentialKind, field: string): boolean =>
  OPTIONAL_CREDENTIAL_FIELDS[kind]?.includes(field) ?? false;

/** Where one of those that may be left out is there, the others have to be. */
const fieldsOf = (kind: CredentialKind, given: JsonObject): readonly string[] => {
  const fields = CREDENTIAL_FIELDS[kind];
  const hasOptional = fields.some((field) => isOptional(kind, field) && Object.hasOwn(given, field));
  return hasOptional ? fields : fields.filter((field) => !isOptional(kind, field));
};

const isCredentialKind = (kind: string): kind is CredentialKind => Object.hasOwn(CREDENTIAL_FIELDS, kind);

/** Names the field alone, and not all of a long name: whoever mistakes the form may have put the secret there. */
const unknownField = (kind: CredentialKind, name: string, fields: readonly string[]): DomainError => {
  const param = `secret.${name.slice(0, UNKNOWN_NAME_MAX_CHARACTERS)}`;
  const known = fields.length === 0 ? 'which have none' : `which have ${fields.join(' and ')}`;
  return refusal(param, `${param} is not a field of credentials of kind ${kind}, ${known}.`);
};

const readField = (kind: CredentialKind, field: string, secret: JsonObject): string => {
  const param = `secret.${field}`;
  const value = Object.hasOwn(secret, field) ? secret[field] : undefined;
  if (value === undefined) throw refusal(param, `${param} is required for credentials of kind ${kind}.`);
  if (typeof value !== 'string' || value === '') throw refusal(param, `${param} must be a string that is not empty.`);
  if (Buffer.byteLength(value) > CREDENTIAL_BODY_MAX_BYTES) {
    throw refusal(param, `${param} must have at most ${CREDENTIAL_BODY_MAX_BYTES} bytes.`);
  }
  const rule = RULES[`${kind}.${field}`];
  if (rule !== undefined && !rule.isValid(value)) throw refusal(param, `${param} must be ${rule.rule}.`);
  return value;
};

const hintOf = (secret: string): string | null =>
  secret.length >= HINT_MIN_SECRET_CHARACTERS ? secret.slice(-HINT_CHARACTERS) : null;

const refusal = (param: string, message: string): DomainError =>
  new DomainError('validation_failed', { param, message });
