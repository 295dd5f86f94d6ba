import { BOOL, type CelType, DOUBLE, DURATION, DYN, INT, listOf, mapOf, STRING, TIMESTAMP, TYPE } from './types.js';

/** One way to call a function. `target`: of `target.name(args)`; absent for `name(args)` and operators. */
export interface Signature {
  readonly target?: CelType;
  readonly args: readonly CelType[];
  readonly result: CelType;
}

const fn = (result: CelType, ...args: readonly CelType[]): Signature => ({ args, result });
const method = (target: CelType, result: CelType, ...args: readonly CelType[]): Signature => ({ target, args, result });

const LIST = listOf(DYN);
const MAP = mapOf(DYN);

const ORDER: readonly Signature[] = [
  ...[INT, DOUBLE].flatMap((one) => [INT, DOUBLE].map((other) => fn(BOOL, one, other))),
  ...[STRING, TIMESTAMP, DURATION, BOOL].map((type) => fn(BOOL, type, type)),
];

// A time zone is optional; without one the fields are those of UTC.
const TIME_FIELD = [method(TIMESTAMP, INT), method(TIMESTAMP, INT, STRING)];
const TIME_AND_DURATION_FIELD = [...TIME_FIELD, method(DURATION, INT)];

/**
 * The functions of CEL that conditions have. What is not here is a diagnostic, also where the evaluator would know it:
 * the list is what docs/policy-language.md promises. Equality, `in`, indexing and `? :` have rules of their own.
 */
export const SIGNATURES: Readonly<Record<string, readonly Signature[]>> = {
  '!_': [fn(BOOL, BOOL)],
  '_&&_': [fn(BOOL, BOOL, BOOL)],
  '_||_': [fn(BOOL, BOOL, BOOL)],
  '@not_strictly_false': [fn(BOOL, BOOL)],
  '_<_': ORDER,
  '_<=_': ORDER,
  '_>_': ORDER,
  '_>=_': ORDER,
  '_+_': [
    fn(INT, INT, INT),
    fn(DOUBLE, DOUBLE, DOUBLE),
    fn(STRING, STRING, STRING),
    fn(TIMESTAMP, TIMESTAMP, DURATION),
    fn(TIMESTAMP, DURATION, TIMESTAMP),
    fn(DURATION, DURATION, DURATION),
    fn(LIST, LIST, LIST),
  ],
  '_-_': [
    fn(INT, INT, INT),
    fn(DOUBLE, DOUBLE, DOUBLE),
    fn(DURATION, TIMESTAMP, TIMESTAMP),
    fn(TIMESTAMP, TIMESTAMP, DURATION),
    fn(DURATION, DURATION, DURATION),
  ],
  '_*_': [fn(INT, INT, INT), fn(DOUBLE, DOUBLE, DOUBLE)],
  '_/_': [fn(INT, INT, INT), fn(DOUBLE, DOUBLE, DOUBLE)],
  '_%_': [fn(INT, INT, INT)],
  '-_': [fn(INT, INT), fn(DOUBLE, DOUBLE)],
  size: [fn(INT, STRING), fn(INT, LIST), fn(INT, MAP), method(STRING, INT), method(LIST, INT), method(MAP, INT)],
  contains: [method(STRING, BOOL, STRING)],
  startsWith: [method(STRING, BOOL, STRING)],
  endsWith: [method(STRING, BOOL, STRING)],
  matches: [method(STRING, BOOL, STRING)],
  lowerAscii: [method(STRING, STRING)],
  upperAscii: [method(STRING, STRING)],
  int: [fn(INT, INT), fn(INT, DOUBLE), fn(INT, STRING), fn(INT, TIMESTAMP)],
  double: [fn(DOUBLE, DOUBLE), fn(DOUBLE, INT), fn(DOUBLE, STRING)],
  string: [STRING, BOOL, INT, DOUBLE, TIMESTAMP, DURATION].map((type) => fn(STRING, type)),
  timestamp: [fn(TIMESTAMP, TIMESTAMP), fn(TIMESTAMP, STRING)],
  duration: [fn(DURATION, DURATION), fn(DURATION, STRING)],
  type: [fn(TYPE, DYN)],
  getFullYear: TIME_FIELD,
  getMonth: TIME_FIELD,
  getDate: TIME_FIELD,
  getDayOfMonth: TIME_FIELD,
  getDayOfWeek: TIME_FIELD,
  getDayOfYear: TIME_FIELD,
  getHours: TIME_AND_DURATION_FIELD,
  getMinutes: TIME_AND_DURATION_FIELD,
  getSeconds: TIME_AND_DURATION_FIELD,
  getMilliseconds: TIME_AND_DURATION_FIELD,
};

/** Names that stand for a type, as `type(x) == string` compares them. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(['bool', 'int', 'double', 'string', 'list', 'map', 'null_type']);
