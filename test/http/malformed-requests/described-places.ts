import { parse } from 'yaml';
import { readOpenApiDocument } from '../../../apps/api/src/openapi/openapi-document.js';
import type { DescribedOperation } from '../described-answer.js';

/** What of a JSON Schema says where a wrong value begins. */
export interface Schema {
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

export interface DescribedParameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

export type FieldPath = readonly (string | number)[];

export interface DescribedField {
  /** `['config', 'tools', 0, 'name']` */
  readonly path: FieldPath;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const document = parse(readOpenApiDocument()) as {
  readonly paths: Readonly<Record<string, Operation & Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

const resolve = <Target extends { readonly $ref?: string }>(target: Target): Target => {
  if (target.$ref === undefined) return target;
  const [, , kind, name] = target.$ref.split('/') as [string, string, string, string];
  return document.components[kind]?.[name] as Target;
};

/** Every parameter of an operation, those of its path included. */
export const parametersOf = ({ method, template }: DescribedOperation): readonly DescribedParameter[] => {
  const item = document.paths[template];
  const own = item?.[method.toLowerCase()]?.parameters ?? [];
  return [...(item?.parameters ?? []), ...own]
    .map(resolve)
    .map((parameter) => ({ ...parameter, schema: resolve(parameter.schema) }));
};

/** Every field of an operation's body, however deep; of a list its first item, of free names one. */
export const fieldsOfBody = ({ method, template }: DescribedOperation): readonly DescribedField[] => {
  const schema = document.paths[template]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.schema;
  return schema ? fieldsBelow([], schema) : [];
};

const fieldsBelow = (path: FieldPath, given: Schema): readonly DescribedField[] => {
  const { properties = {}, items, additionalProperties } = resolve(given);
  const children: [string | number, Schema][] = [
    ...Object.entries(properties),
    ...(items ? [[0, items] as [number, Schema]] : []),
    ...(typeof additionalProperties === 'object' ? [['some', additionalProperties] as [string, Schema]] : []),
  ];
  return children.flatMap(([name, schema]) => {
    const below = [...path, name];
    return [{ path: below, schema: resolve(schema) }, ...fieldsBelow(below, schema)];
  });
};
