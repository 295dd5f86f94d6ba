import type { JsonObject } from '#libs/crypto';
import { IsInt, IsString, Max, Min } from 'class-validator';
import { type Query, queryProblem } from './query-string.js';
import type { RouteEntry, ShapeClass } from './route-table.js';
import { fieldsOf, IfPresent, judgeShape } from './shape.js';
import { nextAfterUnknown } from './unknown-name.js';

const INTEGERS = 'service:query-integers';

/** Plain decimal digits: no sign, no exponent, no leading zero (rule API-7). */
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/** An optional integer parameter. The field of the shape is a number. */
export const QueryInteger = (min: number, max: number): PropertyDecorator => {
  const message = `must be an integer from ${min} to ${max}`;
  const rules = [IfPresent(), IsInt({ message }), Min(min, { message }), Max(max, { message })];
  return (target, property) => {
    const known = (Reflect.getMetadata(INTEGERS, target) as readonly string[] | undefined) ?? [];
    Reflect.defineMetadata(INTEGERS, [...known, String(property)], target);
    for (const rule of rules) rule(target, property);
  };
};

export const LIST_LIMIT_MAX = 100;
export const LIST_LIMIT_DEFAULT = 20;
export const LEDGER_LIST_LIMIT_DEFAULT = 25;

/** What every list takes. A list with filters has a shape of its own: `filteredQuery`. */
export class ListQuery {
  /** Always there: the edge fills in the route's default. */
  limit!: number;
  cursor?: string;
}

/** The rules of `ListQuery`, for the shape of a list. */
export const declarePage = (shape: object): void => {
  QueryInteger(1, LIST_LIMIT_MAX)(shape, 'limit');
  for (const rule of [IfPresent(), IsString()]) rule(shape, 'cursor');
};
declarePage(ListQuery.prototype);

/**
 * The instance of the query's shape that a handler gets, or null for a route that declares none.
 * @throws {DomainError} validation_failed with the first parameter that is wrong, in the order sent
 */
export const takeQuery = (query: Query, route: RouteEntry): object | null => {
  const declared = route.queryShape === null ? [] : fieldsOf(route.queryShape);
  const value = Object.create(null) as JsonObject;
  for (const [name, values] of query) {
    if (!declared.includes(name)) refuseUnknown(name, declared, route);
    else value[name] = name.endsWith('[]') ? [...values] : typed(route.queryShape, name, values[0] as string);
  }
  if (route.queryShape === null) return null;
  if (declared.includes('limit')) value['limit'] ??= route.ledgerList ? LEDGER_LIST_LIMIT_DEFAULT : LIST_LIMIT_DEFAULT;
  const { instance, problems } = judgeShape(route.queryShape, value);
  const [first] = problems;
  if (first) throw queryProblem(first.path.replace(/\[\d+\]$/, ''), first.text);
  return instance;
};

const refuseUnknown = (name: string, declared: readonly string[], route: RouteEntry): void => {
  // `limit[]` and `limit[x]` are attempts at `limit`, and ignoring them would answer another question.
  const base = name.replace(/\[.*$/s, '');
  if (declared.includes(base)) throw queryProblem(name, `must be written ${base}, with one plain value`);
  if (route.unknownQuery === 'refused') {
    throw queryProblem(name, 'is not a parameter of this endpoint', nextAfterUnknown(name, declared));
  }
};

const typed = (shape: ShapeClass | null, name: string, text: string): string | number => {
  const integers =
    shape === null
      ? []
      : ((Reflect.getMetadata(INTEGERS, shape.prototype as object) as readonly string[] | undefined) ?? []);
  return integers.includes(name) && INTEGER.test(text) ? Number(text) : text;
};
