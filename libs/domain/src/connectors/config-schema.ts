import type { JsonValue } from '#libs/crypto';

/** What a form makes of a member; a validator takes no notice of it. */
interface FormHint {
  /** Drawn, and allowed, only where these members of the same object have one of these values, or are not there and have it by default. */
  readonly when?: Readonly<Record<string, readonly string[]>>;
  /** Most leave it as it is: it stands behind a disclosure. */
  readonly more?: boolean;
  /** Where in the config the values stand that it may have, for example `tools[].name`. */
  readonly choices?: string;
  /** Of `choices`: only of the objects whose members have one of these values, an empty one where the member is left out. */
  readonly among?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The part of JSON Schema (2020-12) that describes configs. A choice with words is a `oneOf` of `const` and `title`; a schema
 * without `type` and choices takes any JSON value.
 */
export interface ConfigSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly title?: string;
  readonly description?: string;
  readonly default?: JsonValue;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
  readonly format?: 'uri';
  readonly pattern?: string;
  readonly examples?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  /** Of a map: what its names are. */
  readonly propertyNames?: ConfigSchema;
  /** Of a map: what each of its values is. */
  readonly additionalProperties?: false | ConfigSchema;
  readonly items?: ConfigSchema;
  readonly 'x-service-form'?: FormHint;
}
