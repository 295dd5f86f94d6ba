import 'reflect-metadata';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { getMetadataStorage, validateSync, ValidateIf, ValidateNested, type ValidationError } from 'class-validator';
import type { ShapeClass } from './route-table.js';
import { nextAfterUnknown } from './unknown-name.js';

/**
 * The shape of bodies and queries: class-validator says what a field may be, this file says which problem is named and
 * how. It builds the instances itself: a general mapper copies every value by `target[key] = value`, which would lose
 * the member `__proto__` of an action's arguments and hash something other than what was sent.
 */

const NESTED = 'service:nested-shapes';

/** The most that is sent back of a path: the names in it are the caller's own and may have any length. */
const MAX_PATH_CHARACTERS = 256;

/** The field holds another shape, or with `each` an array of them. */
export const Nested = (shape: () => ShapeClass, { each = false }: { each?: boolean } = {}): PropertyDecorator => {
  const validateNested = ValidateNested({ each });
  return (target, property) => {
    const known = (Reflect.getMetadata(NESTED, target) as NestedShapes | undefined) ?? new Map<string, NestedShape>();
    Reflect.defineMetadata(NESTED, new Map(known).set(String(property), { shape, isList: each }), target);
    validateNested(target, property);
  };
};

interface NestedShape {
  readonly shape: () => ShapeClass;
  readonly isList: boolean;
}

type NestedShapes = ReadonlyMap<string, NestedShape>;

/** The field may be left out. Unlike class-validator's `IsOptional`, null is not the same as leaving it out. */
export const IfPresent = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Names of the fields that a shape declares, in order of declaration. Its decorators have run before anybody can ask. */
export const fieldsOf = (shape: ShapeClass): readonly string[] => {
  const known = declaredFields.get(shape);
  if (known !== undefined) return known;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
  const fields = [...new Set(metadata.map(({ propertyName }) => propertyName))];
  declaredFields.set(shape, fields);
  return fields;
};

const declaredFields = new Map<ShapeClass, readonly string[]>();

export interface Problem {
  /** `config.tools[1].name` */
  readonly path: string;
  /** What it must be instead, as a sentence without its subject: `must be an integer`. */
  readonly text: string;
  /** The next step as a sentence, where the text does not say it. Asked only of the problem that is named. */
  readonly next?: () => string;
}

/**
 * The instance that a handler gets.
 * @throws {DomainError} validation_failed naming the first problem in the order of the document: fields that were sent, in
 * the order sent, then those that are missing
 */
export const takeShape = (shape: ShapeClass, value: JsonObject): object => {
  const { instance, problems } = judgeShape(shape, value);
  const [first, ...others] = problems;
  if (!first) return instance;
  const param = first.path.slice(0, MAX_PATH_CHARACTERS);
  const sentences = [`The field ${param} ${first.text}.`];
  if (first.next !== undefined) sentences.push(first.next());
  if (others.length > 0) {
    sentences.push(`The body has ${others.length} more problem${others.length === 1 ? '' : 's'}.`);
  }
  throw new DomainError('validation_failed', { param, message: sentences.join(' ') });
};

/** All problems, in the order of the document. */
export const judgeShape = (
  shape: ShapeClass,
  value: JsonObject,
): { instance: object; problems: readonly Problem[] } => {
  const instance = instantiate(shape, value);
  const errors = validateSync(instance, { forbidUnknownValues: true, validationError: { target: false } });
  return { instance, problems: problemsOf(shape, value, errors, '') };
};

const instantiate = (shape: ShapeClass, value: JsonObject): object => {
  const instance = new shape();
  for (const field of fieldsOf(shape)) {
    if (!Object.hasOwn(value, field)) continue;
    // Defined, not assigned: a field of that name must not find a setter on the prototype.
    Object.defineProperty(instance, field, {
      value: instantiateField(nestedShapeOf(shape, field), value[field] as JsonValue),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return instance;
};

const instantiateField = (nested: NestedShape | null, value: JsonValue): unknown => {
  if (nested === null) return value;
  const instantiateItem = (item: JsonValue): unknown => (isObject(item) ? instantiate(nested.shape(), item) : item);
  return nested.isList && Array.isArray(value) ? value.map(instantiateItem) : instantiateItem(value);
};

const nestedShapeOf = (shape: ShapeClass, field: string): NestedShape | null => {
  const nested = Reflect.getMetadata(NESTED, shape.prototype as object) as NestedShapes | undefined;
  return nested?.get(field) ?? null;
};

const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const problemsOf = (
  shape: ShapeClass,
  value: JsonObject,
  errors: readonly ValidationError[],
  at: string,
): Problem[] => {
  const byField = new Map(errors.map((error) => [error.property, error]));
  const declared = fieldsOf(shape);
  const problems: Problem[] = [];
  for (const field of Object.keys(value)) {
    const path = at === '' ? field : `${at}.${field}`;
    if (!declared.includes(field)) {
      problems.push({ path, text: 'is not a field of this endpoint', next: () => nextAfterUnknown(field, declared) });
    } else
      problems.push(...fieldProblems(nestedShapeOf(shape, field), value[field] as JsonValue, byField.get(field), path));
  }
  for (const field of declared) {
    const error = Object.hasOwn(value, field) ? undefined : byField.get(field);
    if (error) problems.push({ path: at === '' ? field : `${at}.${field}`, text: 'is required' });
  }
  return problems;
};

/** class-validator lets an array stand for an object and an object for an array, so the form is judged here. */
const fieldProblems = (
  nested: NestedShape | null,
  value: JsonValue,
  error: ValidationError | undefined,
  path: string,
): Problem[] => {
  if (nested === null) return ownProblem(error, path);
  if (!nested.isList) return itemProblems(nested.shape(), value, error, path);
  if (!Array.isArray(value)) return [{ path, text: 'must be an array' }];
  const errorOfItem = new Map(error?.children?.map((child) => [child.property, child]));
  return [
    ...ownProblem(error, path),
    ...value.flatMap((item, index) =>
      itemProblems(nested.shape(), item, errorOfItem.get(String(index)), `${path}[${index}]`),
    ),
  ];
};

const itemProblems = (
  shape: ShapeClass,
  value: JsonValue,
  error: ValidationError | undefined,
  path: string,
): Problem[] =>
  isObject(value)
    ? [...ownProblem(error, path), ...problemsOf(shape, value, error?.children ?? [], path)]
    : [{ path, text: 'must be an object' }];

/** class-validator begins its sentences with the field's name; a path takes its place. */
const ownProblem = (error: ValidationError | undefined, path: string): Problem[] => {
  // Decorators register from the bottom up: the last one is the top one, which says the type.
  const constraint = Object.entries(error?.constraints ?? {}).at(-1);
  if (!error || !constraint) return [];
  const [, sentence] = constraint;
  const text = sentence.startsWith(`${error.property} `) ? sentence.slice(error.property.length + 1) : sentence;
  return [{ path, text: text.replace(/\.$/, '') }];
};
