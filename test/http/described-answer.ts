import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';
import type { JsonAnswer } from './edge-client.js';

type Described =
  { readonly $ref: string } | { readonly content?: Readonly<Record<string, { readonly schema: object }>> };

const document = parse(readOpenApiDocument()) as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>
  >;
  readonly components: { readonly responses: Readonly<Record<string, Described>> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'document', components: document.components });

/** How a JSON answer differs from what the interface description says of it; none when it does not. */
export const undescribedIn = (method: string, path: string, answer: JsonAnswer): readonly string[] => {
  const responses = responsesOf(method, path.split('?', 1)[0] as string);
  const described = responses?.[String(answer.status)];
  if (!described) return [`${method} ${path}: status ${answer.status} is not described`];
  if (answer.json === null) return [];
  const [own] = '$ref' in described ? [componentOf(described.$ref)] : [described];
  const schema = own && 'content' in own ? own.content?.['application/json']?.schema : undefined;
  if (!schema) return [`${method} ${path}: status ${answer.status} is described without JSON`];
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object);
  validate(answer.json);
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${method} ${path}: ${instancePath} ${message ?? ''}`,
  );
};

const componentOf = (reference: string): Described | undefined =>
  document.components.responses[reference.split('/').at(-1) as string];

/** A path without parameters comes before one with them, as the router has it. */
const responsesOf = (method: string, path: string): Readonly<Record<string, Described>> | undefined => {
  const segments = path.split('/');
  const fitting = Object.keys(document.paths).filter((template) => {
    const parts = template.split('/');
    return (
      parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  const [template = ''] = fitting.toSorted((one, other) => one.split('{').length - other.split('{').length);
  return document.paths[template]?.[method.toLowerCase()]?.responses;
};
