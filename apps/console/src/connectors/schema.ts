/** The schema of a connector type's config: the part of JSON Schema that the service uses, with hints for the form. */
export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
  readonly examples?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly uniqueItems?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  /** Of a map: what its names are called, and one of them. */
  readonly propertyNames?: { readonly title?: string; readonly examples?: readonly string[] };
  readonly items?: Schema;
  readonly 'x-service-form'?: {
    readonly when?: Readonly<Record<string, readonly string[]>>;
    readonly more?: boolean;
    readonly choices?: string;
    readonly among?: Readonly<Record<string, readonly string[]>>;
  };
}

/** How the form shows a member. `any` is a text field, whose text is sent as JSON if it parses as JSON. */
export type Kind = 'object' | 'map' | 'checks' | 'list' | 'flag' | 'choice' | 'number' | 'text' | 'any';

export const kindOf = (schema: Schema): Kind => {
  if (schema.type === 'object') return schema.properties === undefined ? 'map' : 'object';
  if (schema.type === 'array')
    return schema.uniqueItems === true && schema.items?.enum !== undefined ? 'checks' : 'list';
  if (schema.type === 'boolean') return 'flag';
  if (schema.oneOf !== undefined || schema.enum !== undefined) return 'choice';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  return schema.type === 'string' ? 'text' : 'any';
};

/** The values of a choice, with their words. */
export const choicesOf = (schema: Schema): readonly (readonly [value: string, word: string])[] =>
  schema.oneOf?.map(({ const: value, title }) => [value, title] as const) ??
  schema.enum?.map((value) => [value, value] as const) ??
  [];

export const valuesOf = (schema: Schema): Schema =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};

/** Whether most connectors leave the member at its default, so that the form hides it behind a disclosure. */
export const isMore = (schema: Schema): boolean => schema['x-service-form']?.more === true;

const MANY_CHARACTERS = 2_048;

/** Whether a text may be so long that it has lines, such as a statement: a field of one line would lose them. */
export const hasLines = (schema: Schema): boolean =>
  kindOf(schema) === 'text' && (schema.maxLength ?? 0) > MANY_CHARACTERS;

/** Whether an optional object has required members, so that it is either left out or filled in. */
export const isOptionalWhole = (schema: Schema, isRequired: boolean): boolean =>
  kindOf(schema) === 'object' && !isRequired && (schema.required ?? []).length > 0;
