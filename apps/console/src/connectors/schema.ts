/** What a catalogue entry says of a config: the part of JSON Schema that the service writes, with hints for forms. */
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
  readonly items?: Schema;
  readonly 'x-service-form'?: {
    readonly when?: Readonly<Record<string, readonly string[]>>;
    readonly more?: boolean;
    readonly choices?: string;
    readonly among?: Readonly<Record<string, readonly string[]>>;
  };
}

/** How a member is drawn. `any`: a text that is read as JSON where it is some. */
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

/** Values of a choice, with their words. */
export const choicesOf = (schema: Schema): readonly (readonly [value: string, word: string])[] =>
  schema.oneOf?.map(({ const: value, title }) => [value, title] as const) ??
  schema.enum?.map((value) => [value, value] as const) ??
  [];

export const valuesOf = (schema: Schema): Schema =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};

/** Whether most leave it as it is. */
export const isMore = (schema: Schema): boolean => schema['x-service-form']?.more === true;

/** An object that is there as a whole or not at all: it has members that it cannot be without. */
export const isOptionalWhole = (schema: Schema, isRequired: boolean): boolean =>
  kindOf(schema) === 'object' && !isRequired && (schema.required ?? []).length > 0;
