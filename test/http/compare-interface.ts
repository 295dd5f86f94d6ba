import { parse } from 'yaml';
import type { RouteEntry } from '../../apps/api/src/http/route-table.js';

interface Operation {
  readonly operationId?: string;
  readonly 'x-service-auth'?: string;
  readonly 'x-service-since'?: string;
  readonly 'x-service-scopes'?: readonly string[];
  readonly 'x-service-admin'?: boolean;
  readonly 'x-service-role'?: string;
  readonly 'x-service-page'?: boolean;
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
  };
  readonly parameters?: readonly (Parameter | Reference)[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Reference {
  readonly $ref: string;
}

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { readonly parameters?: readonly (Parameter | Reference)[] }>
  >;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Where an OpenAPI document and the routes that are served say different things, one sentence each; none when they agree.
 * Compared: which operations there are, auth kind, role, scopes, admin, since, the names of query parameters, whether there is a
 * body, how large it may be, and the names of its fields.
 * @param fieldsOf names of the fields of a route's body or query, as the application declares them
 */
export const compareInterface = (
  document: string,
  routes: readonly RouteEntry[],
  fieldsOf: (shape: NonNullable<RouteEntry['bodyShape']>) => readonly string[],
): readonly string[] => {
  const description = parse(document) as Description;
  const described = new Map<
    string,
    { readonly operation: Operation; readonly shared: readonly (Parameter | Reference)[] }
  >();
  for (const [path, item] of Object.entries(description.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) described.set(`${method.toUpperCase()} ${path}`, { operation, shared: item.parameters ?? [] });
    }
  }
  const differences: string[] = [];
  for (const route of routes) {
    const name = `${route.method} ${route.template}`;
    const found = described.get(name);
    if (!found) differences.push(`${name} is served, but not described`);
    else differences.push(...compareOperation(name, route, found, description, fieldsOf));
    described.delete(name);
  }
  for (const name of described.keys()) differences.push(`${name} is described, but not served`);
  return differences;
};

const compareOperation = (
  name: string,
  route: RouteEntry,
  { operation, shared }: { readonly operation: Operation; readonly shared: readonly (Parameter | Reference)[] },
  description: Description,
  fieldsOf: (shape: NonNullable<RouteEntry['bodyShape']>) => readonly string[],
): readonly string[] => {
  const parameters = [...shared, ...(operation.parameters ?? [])].map((each) => resolve(each, description));
  const pairs: [string, unknown, unknown][] = [
    ['x-service-auth', route.auth, operation['x-service-auth']],
    ['x-service-since', route.since, operation['x-service-since']],
    ['x-service-scopes', [...route.scopes].sort(), [...(operation['x-service-scopes'] ?? [])].sort()],
    ['x-service-role', route.role, operation['x-service-role'] ?? null],
    ['x-service-admin', route.admin, operation['x-service-admin'] ?? false],
    ['x-service-page', route.page, operation['x-service-page'] ?? false],
    [
      'query parameters',
      sorted(route.queryShape ? fieldsOf(route.queryShape) : []),
      sorted(namesIn('query', parameters)),
    ],
    [
      'path parameters',
      sorted([...route.template.matchAll(/\{(\w+)\}/g)].map(([, each]) => each as string)),
      sorted(namesIn('path', parameters)),
    ],
    [
      'body fields',
      sorted(route.bodyShape ? fieldsOf(route.bodyShape) : []),
      // The fields of another protocol's messages are declared by no class.
      route.rawBody ? [] : sorted(bodyFieldsOf(operation, description)),
    ],
    [
      'body size',
      route.bodyShape || route.rawBody ? `At most ${sizeOf(route.maxBodyBytes)}.` : null,
      operation.requestBody?.description ?? null,
    ],
    ['Idempotency-Key', route.idempotency !== 'none', namesIn('header', parameters).includes('Idempotency-Key')],
    ['Service-Version', !route.unversioned, namesIn('header', parameters).includes('Service-Version')],
  ];
  return pairs
    .filter(([, served, told]) => JSON.stringify(served) !== JSON.stringify(told))
    .map(
      ([what, served, told]) => `${name}: ${what} is ${JSON.stringify(served)}, described as ${JSON.stringify(told)}`,
    );
};

const sizeOf = (bytes: number): string =>
  bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1024} KiB`;

const sorted = (names: readonly string[]): readonly string[] => [...names].sort();

const namesIn = (place: string, parameters: readonly Parameter[]): readonly string[] =>
  parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);

const bodyFieldsOf = ({ requestBody }: Operation, description: Description): readonly string[] => {
  const schema = requestBody?.content['application/json']?.schema;
  if (!schema) return [];
  const { properties } = resolve(schema, description) as unknown as { properties?: Readonly<Record<string, unknown>> };
  return Object.keys(properties ?? {});
};

/** References of this document are all one step long. */
const resolve = <Target extends object>(
  target: Target | Reference,
  description: Description,
): Exclude<Target, Reference> => {
  if (!('$ref' in target)) return target as Exclude<Target, Reference>;
  const [, , kind, name] = target.$ref.split('/') as [string, string, string, string];
  return description.components[kind]?.[name] as Exclude<Target, Reference>;
};
