import pg from 'pg';

import {
  bodyProfile,
  canonicalize,
  type JsonObject,
  type JsonValue,
  parseStrictJson,
  StrictJsonError,
} from '#libs/crypto';

import type { Redactor } from '../redactor.js';
import type { AnsweredColumn, StatementAnswer } from './statement-run.js';

/** Types that are shown as what JSON has for them. All others, big integers and decimals among them, stay texts. */
const { BOOL, INT2, INT4, OID, FLOAT4, FLOAT8, JSON: PLAIN_JSON, JSONB } = pg.types.builtins;
const NUMBERS: ReadonlySet<number> = new Set([INT2, INT4, OID, FLOAT4, FLOAT8]);
const JSON_TYPES: ReadonlySet<number> = new Set([PLAIN_JSON, JSONB]);

/** Deeper JSON is shown as its text. The result nests around it. */
const JSON_PROFILE = bodyProfile({ maxBytes: 1_048_576, maxDepth: 24 });

const TYPE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(pg.types.builtins).map(([name, id]) => [id as number, name.toLowerCase()]),
);

/** The name of a type that every server has; null for others, which the server has to be asked for. */
export const builtinTypeName = (typeId: number): string | null => TYPE_NAMES.get(typeId) ?? null;

export interface ResultTerms {
  /** Of the whole result, as it is recorded. */
  readonly maxBytes: number;
  readonly redactor: Redactor;
  /** Names of the types that are not built in. */
  readonly typeNames: ReadonlyMap<number, string>;
}

/**
 * `{command, row_count, rows, columns, truncated}` in canonical form: rows are objects, whose members are named as the
 * columns (a name that comes again gets `_2`, `_3`). Rows that do not fit are left out, and `truncated` says so.
 */
export const resultOf = (answer: StatementAnswer, terms: ResultTerms): string => {
  const names = memberNames(answer.columns);
  const columns = answer.columns.map(({ typeId }, index) => ({
    name: names[index] ?? '',
    type: builtinTypeName(typeId) ?? terms.typeNames.get(typeId) ?? String(typeId),
  }));
  const frame = { command: commandOf(answer.tag), row_count: rowCountOf(answer.tag), columns };
  const redactedFrame = terms.redactor.json(frame) as JsonObject;
  const rows: JsonValue[] = [];
  let bytes = Buffer.byteLength(canonicalize(redactedFrame)) + FRAME_BYTES;
  for (const row of answer.rows) {
    const shown = terms.redactor.json(rowOf(row, answer.columns, names));
    bytes += Buffer.byteLength(canonicalize(shown)) + 1;
    if (bytes > terms.maxBytes) break;
    rows.push(shown);
  }
  return canonicalize({ ...redactedFrame, rows, truncated: answer.isCut || rows.length < answer.rows.length });
};

/** Of the members that stand around the rows. */
const FRAME_BYTES = 64;

const rowOf = (
  row: readonly (string | null)[],
  columns: readonly AnsweredColumn[],
  names: readonly string[],
): JsonObject => {
  const shown = Object.create(null) as JsonObject;
  row.forEach((text, index) => {
    shown[names[index] ?? String(index)] = text === null ? null : valueOf(text, columns[index]?.typeId ?? 0);
  });
  return shown;
};

const valueOf = (text: string, typeId: number): JsonValue => {
  if (typeId === Number(BOOL)) return text === 't';
  if (NUMBERS.has(typeId)) return numberOf(text);
  if (!JSON_TYPES.has(typeId)) return wellFormed(text);
  try {
    return parseStrictJson(Buffer.from(text), JSON_PROFILE);
  } catch (error) {
    if (error instanceof StrictJsonError) return wellFormed(text);
    throw error;
  }
};

/** NaN and the infinities are no JSON. */
const numberOf = (text: string): JsonValue => {
  const number = Number(text);
  return Number.isFinite(number) && text !== '' ? number : text;
};

const wellFormed = (text: string): string => text.toWellFormed();

const memberNames = (columns: readonly AnsweredColumn[]): readonly string[] => {
  const seen = new Set<string>();
  // Where the last one of a name ended: 1,600 columns of one name are counted on, and not each from the start.
  const last = new Map<string, number>();
  return columns.map(({ name }) => {
    let member = name;
    let nth = last.get(name) ?? 1;
    while (seen.has(member)) member = `${name}_${(nth += 1)}`;
    last.set(name, nth);
    seen.add(member);
    return member;
  });
};

/** `INSERT 0 1` is the command INSERT: the number between is a leftover of the protocol. */
const commandOf = (tag: string): string => tag.split(' ')[0] ?? '';

/** How many rows the command tag counts; null for a command that counts none. */
export const rowCountOf = (tag: string): number | null => {
  const last = tag.split(' ').at(-1) ?? '';
  return /^\d+$/.test(last) ? Number(last) : null;
};
