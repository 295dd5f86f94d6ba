import { type Kind, kindOf, type Schema, valuesOf } from './schema.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** One row of a list or a map in the form. The id keeps the row's identity while its name is being typed. */
export interface Row {
  readonly id: number;
  /** The key in a map; empty in lists. */
  readonly name: string;
  readonly value: Draft;
}

/** The form's state of an object. `others` are members that the schema does not know; they are kept unchanged. */
export interface DraftObject {
  readonly members: Readonly<Record<string, Draft>>;
  readonly others: Readonly<Record<string, Json>>;
}

/** The form's state of a value: texts as typed, rows in their order. */
export type Draft = string | boolean | readonly string[] | { readonly rows: readonly Row[] } | DraftObject;

/** A value that does not fit its schema, so that the form cannot hold it. */
export class Misfit extends Error {
  constructor(
    readonly param: string,
    must: string,
  ) {
    super(`${param} must be ${must}.`);
  }
}

let lastId = 0;
const newRow = (name: string, value: Draft): Row => ({ id: (lastId += 1), name, value });

const MUST: Readonly<Record<Kind, string>> = {
  object: 'an object',
  map: 'an object',
  checks: 'a list of texts',
  list: 'a list',
  flag: 'true or false',
  choice: 'a text',
  number: 'a number',
  text: 'a text',
  any: 'a value',
};

const isMembers = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

/**
 * Converts a value to the form's state.
 * @throws {Misfit} if the value is not of the schema's kind: such a config can be edited only as JSON
 */
export const toDraft = (schema: Schema, value: Json, param: string): Draft => {
  const kind = kindOf(schema);
  const misfit = (): never => {
    throw new Misfit(param, MUST[kind]);
  };
  switch (kind) {
    case 'object':
      return isMembers(value) ? toObject(schema, value, param) : misfit();
    case 'map':
      if (!isMembers(value)) return misfit();
      return {
        rows: Object.entries(value).map(([name, of]) =>
          newRow(name, toDraft(valuesOf(schema), of, `${param}.${name}`)),
        ),
      };
    case 'checks':
      return isList(value) && value.every((each) => typeof each === 'string') ? value : misfit();
    case 'list':
      if (!isList(value)) return misfit();
      return {
        rows: value.map((of, index) => newRow('', toDraft(schema.items ?? {}, of, `${param}[${index}]`))),
      };
    case 'flag':
      return typeof value === 'boolean' ? value : misfit();
    case 'number':
      return typeof value === 'number' ? String(value) : misfit();
    case 'choice':
    case 'text':
      return typeof value === 'string' ? value : misfit();
    case 'any':
      return typeof value === 'string' && !isJson(value) ? value : JSON.stringify(value);
  }
};

const toObject = (schema: Schema, value: { readonly [name: string]: Json }, param: string): DraftObject => {
  const known = schema.properties ?? {};
  const members: Record<string, Draft> = {};
  const others: Record<string, Json> = {};
  for (const [name, of] of Object.entries(value)) {
    const member = Object.hasOwn(known, name) ? known[name] : undefined;
    if (member === undefined) others[name] = of;
    else members[name] = toDraft(member, of, `${param}.${name}`);
  }
  return { members, others };
};

/** The form's state before anything was typed. */
export const emptyDraft = (schema: Schema): Draft => {
  switch (kindOf(schema)) {
    case 'object':
      return { members: {}, others: {} };
    case 'map':
    case 'list':
      return { rows: [] };
    case 'checks':
      return [];
    case 'flag':
      return false;
    default:
      return '';
  }
};

export const addedTo = (rows: readonly Row[], name: string, value: Draft): { readonly rows: readonly Row[] } => ({
  rows: [...rows, newRow(name, value)],
});

/**
 * Whether a member is shown and sent, which the schema makes depend on the values, or defaults, of the members beside
 * it.
 */
export const isWanted = (member: Schema, beside: Schema, object: DraftObject): boolean =>
  Object.entries(member['x-service-form']?.when ?? {}).every(([name, values]) => {
    const given = object.members[name];
    const byDefault = beside.properties?.[name]?.default;
    const now = typeof given === 'string' && given !== '' ? given : typeof byDefault === 'string' ? byDefault : '';
    return values.includes(now);
  });

/** A fault that the form finds before sending: a missing value, or a name that two rows have. */
export interface Fault {
  readonly param: string;
  readonly message: string;
}

/**
 * Converts the form's state to the JSON to send. An undefined value is left out. Only missing values and double names
 * are added to `faults`; all else is for the service to judge.
 */
export const toJson = (schema: Schema, draft: Draft | undefined, param: string, faults: Fault[]): Json | undefined => {
  if (draft === undefined) return undefined;
  if (typeof draft === 'boolean') return draft;
  if (typeof draft === 'string') return textToJson(kindOf(schema), draft);
  if ('members' in draft) return objectToJson(schema, draft, param, faults);
  if (!('rows' in draft)) return [...draft];
  const { rows } = draft;
  if (kindOf(schema) === 'map') return mapToJson(schema, rows, param, faults);
  return rows.flatMap(({ value }, index) => {
    const item = toJson(schema.items ?? {}, value, `${param}[${index}]`, faults);
    return item === undefined ? [] : [item];
  });
};

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

const textToJson = (kind: Kind, text: string): Json | undefined => {
  if (text === '') return undefined;
  // Text that is no number is sent unchanged, so that the service's error says what is expected.
  if (kind === 'number') return NUMBER.test(text.trim()) ? Number(text) : text;
  if (kind === 'any') return isJson(text) ? (JSON.parse(text) as Json) : text;
  return text;
};

const objectToJson = (schema: Schema, draft: DraftObject, param: string, faults: Fault[]): Json => {
  const json: Record<string, Json> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!isWanted(member, schema, draft)) continue;
    const value = toJson(member, draft.members[name], `${param}.${name}`, faults);
    const isNothing = value === undefined || (isList(value) ? isEmptyList(member, value) : isEmptyGroup(member, value));
    if (isNothing && schema.required?.includes(name) === true) faults.push(missing(`${param}.${name}`, member));
    else if (!isNothing) json[name] = value;
  }
  return { ...json, ...draft.others };
};

/** A list without rows is left out. Where nothing is ticked of what would be ticked by default, that is said. */
const isEmptyList = (schema: Schema, value: readonly Json[]): boolean =>
  value.length === 0 && !(kindOf(schema) === 'checks' && schema.default !== undefined);

/** An optional group of fields, none of which was filled in. */
const isEmptyGroup = (schema: Schema, value: Json): boolean =>
  kindOf(schema) === 'object' && (schema.required ?? []).length === 0 && Object.keys(value as object).length === 0;

/** The service would report a wrong type for a missing value; this message is plainer. */
const missing = (param: string, member: Schema): Fault => ({
  param,
  message: kindOf(member) === 'list' ? 'Add at least one.' : 'This field is required.',
});

const mapToJson = (schema: Schema, rows: readonly Row[], param: string, faults: Fault[]): Json => {
  const named = new Map<string, Json>();
  for (const { name, value } of rows) {
    const at = `${param}.${name}`;
    const of = toJson(valuesOf(schema), value, at, faults);
    if (name === '' && (of === undefined || of === '')) continue;
    if (named.has(name)) faults.push({ param: at, message: `${at} is used twice. Rename one of them.` });
    named.set(name, of ?? '');
  }
  return Object.fromEntries(named);
};

/**
 * All values at a path of the draft, such as `tools[].name`.
 * @param among limits the objects of a list to those whose members have one of these texts; '' stands for a member that
 * is left out
 */
export const valuesAt = (
  draft: Draft | undefined,
  path: string,
  among: Readonly<Record<string, readonly string[]>> = {},
): readonly string[] => {
  if (draft === undefined) return [];
  if (path === '') return typeof draft === 'string' && draft !== '' ? [draft] : [];
  if (typeof draft !== 'object') return [];
  if (path.startsWith('[]')) {
    if (!('rows' in draft)) return [];
    const rows = draft.rows.filter(({ value }) => isAmong(value, among));
    return rows.flatMap(({ value }) => valuesAt(value, path.slice(2).replace(/^\./, '')));
  }
  const [, name = '', rest = ''] = /^([^.[]+)\.?(.*)$/.exec(path) ?? [];
  return 'members' in draft ? valuesAt(draft.members[name], rest, among) : [];
};

const isAmong = (value: Draft, among: Readonly<Record<string, readonly string[]>>): boolean =>
  Object.entries(among).every(([name, texts]) => {
    const member = typeof value === 'object' && 'members' in value ? value.members[name] : undefined;
    return texts.includes(typeof member === 'string' ? member : '');
  });
