import {
  celEnv,
  celFunc,
  type CelFunc,
  type CelInput,
  type CelList,
  type CelValue,
  celList,
  celMethod,
  CelScalar,
  isCelList,
  isCelMap,
  listType,
  objectType,
} from '@bufbuild/cel';

import { EvaluationLimit, ITEMS_MAX, MATCHED_MAX_CHARACTERS, NUMBER_MAX_CHARACTERS } from './limits.js';
import { compilePattern } from './patterns.js';
import { countCharacters, holds, lowerAscii, upperAscii } from './text-units.js';
import { localTime, timeField } from './time-fields.js';

const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar;
const LIST = listType(DYN);
const TIMESTAMP = objectType('google.protobuf.Timestamp');

/** Wrapped around every range by `compileExpression`; no expression can name it. */
export const BOUNDED = '@bounded';

const bounded = celFunc(BOUNDED, [DYN], DYN, (range) => {
  if (isCelList(range) || isCelMap(range)) requireFewItems(range.size);
  return range;
});

const requireFewItems = (size: number): void => {
  if (size > ITEMS_MAX) throw new EvaluationLimit(`a list or map of more than ${ITEMS_MAX} items`);
};

/** Stands for `list + [item]` where `map` and `filter` collect what they keep; no expression can name it. */
export const COLLECTED = '@collected';

// What a fold is collecting. Nothing else can reach it before the fold is done, so it grows in place.
const collecting = new WeakMap<CelList, CelInput[]>();

const collected = celFunc(COLLECTED, [LIST, DYN], LIST, (list, item) => {
  const items = collecting.get(list);
  if (items !== undefined) {
    items.push(item);
    return list;
  }
  const begun: CelInput[] = [item];
  const collection = celList(begun);
  collecting.set(collection, begun);
  return collection;
});

const inList = celFunc('@in', [DYN, LIST], BOOL, (item, list) => {
  requireFewItems(list.size);
  for (const element of list) {
    if (isEqual(item, element)) return true;
  }
  return false;
});

const EQUALITY = celEnv().funcs.find('_==_');

// Lists of names are the common case, and finding the right equality costs more than comparing two of them.
const isEqual = (one: CelValue, other: CelValue): boolean =>
  typeof one === 'string' || typeof other === 'string'
    ? one === other
    : EQUALITY?.call(0, undefined, [one, other]) === true;

const contains = celMethod('contains', STRING, [STRING], BOOL, function (needle) {
  return holds(this, needle);
});

const matches = celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
  if (this.length > MATCHED_MAX_CHARACTERS) {
    throw new EvaluationLimit(`a text of more than ${MATCHED_MAX_CHARACTERS} characters in matches()`);
  }
  const compiled = compilePattern(pattern);
  if ('fault' in compiled) throw new Error(compiled.fault);
  return compiled.test(this);
});

// BigInt() and Number() would also read "", " 7 ", "0x10" and "1e400".
const intOfText = celFunc('int', [STRING], INT, (text) => {
  const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : null;
  if (value === null || BigInt.asIntN(64, value) !== value) throw new Error('the text is no int');
  return value;
});

const doubleOfText = celFunc('double', [STRING], DOUBLE, (text) => {
  const isNumber = text.length <= NUMBER_MAX_CHARACTERS && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
  const value = isNumber ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new Error('the text is no double');
  return value;
});

const TIME_FIELDS = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
] as const;

interface ProtoTimestamp {
  readonly message: { readonly seconds: bigint; readonly nanos: number };
}

const timeFields: readonly CelFunc[] = TIME_FIELDS.flatMap((name) => [
  celMethod(name, TIMESTAMP, [], INT, function () {
    return fieldOf(name, this as unknown as ProtoTimestamp, null);
  }),
  celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
    return fieldOf(name, this as unknown as ProtoTimestamp, zone);
  }),
]);

const fieldOf = (name: string, { message }: ProtoTimestamp, zone: string | null): bigint =>
  BigInt(timeField(name, localTime(Number(message.seconds), zone)));

const milliseconds = celMethod('getMilliseconds', TIMESTAMP, [], INT, function () {
  return BigInt(Math.floor((this as unknown as ProtoTimestamp).message.nanos / 1_000_000));
});

/**
 * CEL with our own functions where the package's are missing, unbounded or judge by the server they run on. The checker
 * (`signatures.ts`) admits fewer functions than the package knows.
 */
export const ENVIRONMENT = celEnv({
  funcs: [
    bounded,
    collected,
    inList,
    contains,
    matches,
    intOfText,
    doubleOfText,
    celFunc('size', [STRING], INT, countCharacters),
    celMethod('size', STRING, [], INT, function () {
      return countCharacters(this);
    }),
    celMethod('lowerAscii', STRING, [], STRING, function () {
      return lowerAscii(this);
    }),
    celMethod('upperAscii', STRING, [], STRING, function () {
      return upperAscii(this);
    }),
    ...timeFields,
    milliseconds,
  ],
});
