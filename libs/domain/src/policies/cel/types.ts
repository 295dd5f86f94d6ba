/** What the checker knows about a value before any call. `dyn`: only the call knows. `error`: already reported. */
export type CelType =
  | { readonly kind: 'error' | 'bool' | 'double' | 'null' | 'timestamp' | 'duration' | 'type' }
  /** `isNumber`: an int or a double, as the call writes it. */
  | { readonly kind: 'dyn'; readonly isNumber?: true }
  /** `oneOf`: every value it can have. */
  | { readonly kind: 'string'; readonly oneOf?: readonly string[] }
  | { readonly kind: 'int'; readonly oneOf?: readonly bigint[] }
  | { readonly kind: 'list'; readonly element: CelType }
  /** Keys are texts. `members`: every one it can have, where that is declared. */
  | { readonly kind: 'map'; readonly value: CelType; readonly members?: Readonly<Record<string, Field>> }
  | { readonly kind: 'nullable'; readonly of: CelType }
  | { readonly kind: 'record'; readonly name: string; readonly fields: Readonly<Record<string, Field>> };

export interface Field {
  readonly type: CelType;
  /** `optional`: absent from some calls. `unavailable`: a known name that no connector of this version supplies. */
  readonly presence: 'always' | 'optional' | 'unavailable';
  /** Types of connector whose calls have it; absent where the others have it, too. */
  readonly suppliedBy?: readonly string[];
  /** For docs and hints: a clause without a full stop. */
  readonly meaning: string;
}

export const DYN: CelType = { kind: 'dyn' };
export const ERROR: CelType = { kind: 'error' };
export const NUMBER: CelType = { kind: 'dyn', isNumber: true };
export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const DOUBLE: CelType = { kind: 'double' };
export const STRING: CelType = { kind: 'string' };
export const NULL: CelType = { kind: 'null' };
export const TIMESTAMP: CelType = { kind: 'timestamp' };
export const DURATION: CelType = { kind: 'duration' };
export const TYPE: CelType = { kind: 'type' };
export const listOf = (element: CelType): CelType => ({ kind: 'list', element });
export const mapOf = (value: CelType): CelType => ({ kind: 'map', value });
export const nullable = (of: CelType): CelType => ({ kind: 'nullable', of });

const isUnknown = (type: CelType): boolean => type.kind === 'error' || (type.kind === 'dyn' && !type.isNumber);

/** Of a number that only the call writes, what it can be. */
const NUMBERS: readonly CelType[] = [INT, DOUBLE];
const isSomeNumber = (type: CelType): boolean => type.kind === 'dyn' && type.isNumber === true;

/** Whether a value of `given` can be what `wanted` asks for. A nullable may turn out to be null: then the call fails. */
export const isAssignable = (wanted: CelType, given: CelType): boolean => {
  if (isUnknown(wanted) || isUnknown(given)) return true;
  if (isSomeNumber(given)) return NUMBERS.some((number) => isAssignable(wanted, number));
  if (given.kind === 'nullable') return wanted.kind === 'null' || isAssignable(wanted, given.of);
  if (wanted.kind === 'list' && given.kind === 'list') return isAssignable(wanted.element, given.element);
  if (wanted.kind === 'map' && given.kind === 'map') return isAssignable(wanted.value, given.value);
  return wanted.kind === given.kind;
};

const isNumber = (type: CelType): boolean => type.kind === 'int' || type.kind === 'double' || isSomeNumber(type);

/** Whether the two can ever be equal. Records are no values of their own: their fields are compared. */
export const isComparable = (one: CelType, other: CelType): boolean => {
  if (one.kind === 'record' || other.kind === 'record') return false;
  if (isUnknown(one) || isUnknown(other)) return true;
  if (one.kind === 'nullable') return other.kind === 'null' || isComparable(one.of, other);
  if (other.kind === 'nullable') return isComparable(other, one);
  if (isNumber(one) && isNumber(other)) return true;
  if (one.kind === 'list' && other.kind === 'list') return isComparable(one.element, other.element);
  if (one.kind === 'map' && other.kind === 'map') return isComparable(one.value, other.value);
  return one.kind === other.kind;
};

/** The type of what is one or the other. */
export const join = (one: CelType, other: CelType): CelType => {
  if (one.kind === 'error') return other;
  if (other.kind === 'error') return one;
  if (one.kind === 'list' && other.kind === 'list') return listOf(join(one.element, other.element));
  if (one.kind === 'map' && other.kind === 'map') return mapOf(join(one.value, other.value));
  if (one.kind === 'string' && other.kind === 'string') return STRING;
  if (one.kind === 'int' && other.kind === 'int') return INT;
  if (one.kind === 'dyn' || other.kind === 'dyn') return isNumber(one) && isNumber(other) ? NUMBER : DYN;
  return one.kind === other.kind && one.kind !== 'record' && one.kind !== 'nullable' ? one : DYN;
};

const NAMES: Readonly<Record<CelType['kind'], string>> = {
  dyn: 'any value',
  error: 'any value',
  bool: 'a bool',
  int: 'an int',
  double: 'a double',
  null: 'null',
  timestamp: 'a timestamp',
  duration: 'a duration',
  type: 'a type',
  string: 'a string',
  list: 'a list',
  map: 'a map',
  nullable: 'a value or null',
  record: 'a group of facts',
};

/** For a message, with its article. */
export const nameOf = (type: CelType): string => {
  if (isSomeNumber(type)) return 'a number';
  return type.kind === 'nullable' ? `${NAMES[type.of.kind]} or null` : NAMES[type.kind];
};
