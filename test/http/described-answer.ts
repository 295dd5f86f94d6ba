import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';

type Described =
  | { readonly $ref: string }
  | {
      readonly headers?: Readonly<Record<string, unknown>>;
      readonly content?: Readonly<Record<string, { readonly schema: object }>>;
    };
type Response = Exclude<Described, { $ref: string }>;

interface BodyContent {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** The last of several, which says most. */
const exampleOf = (content: BodyContent | undefined): unknown =>
  content?.example ?? Object.values(content?.examples ?? {}).at(-1)?.value;

interface Operation {
  readonly operationId: string;
  readonly 'x-service-auth': string;
  readonly 'x-service-scopes'?: readonly string[];
  readonly 'x-service-admin'?: boolean;
  readonly 'x-service-role'?: string;
  readonly 'x-service-page'?: boolean;
  readonly 'x-service-errors'?: readonly string[];
  readonly parameters?: readonly ({ readonly $ref: string } | { readonly name: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, BodyContent>> };
  readonly responses: Readonly<Record<string, Described>>;
}

const document = parse(readOpenApiDocument()) as {
  readonly 'x-service-errors': Readonly<Record<'any' | 'keyed' | 'changing', readonly string[]>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'document', components: document.components });

/** What the interface description says of one operation. */
export class DescribedOperation {
  /** `POST /v1/policies/{id}/versions` */
  readonly name: string;
  readonly auth: string;
  readonly isAdmin: boolean;
  /** What it refuses is a page, which names no code in JSON. */
  readonly isPage: boolean;
  /** The lowest role of a person; null where no person may call it, or everybody may. */
  readonly role: string | null;
  readonly scopes: readonly string[];
  /** Codes that it has reasons of its own for. */
  readonly ownErrors: readonly string[];
  /** Codes that it may answer as others do. */
  readonly sharedErrors: readonly string[];
  /** Names of its query parameters and headers; a shared one by the name of its component. */
  readonly parameters: readonly string[];
  readonly takesBody: boolean;
  readonly bodyExample: unknown;

  constructor(
    readonly method: string,
    readonly template: string,
    private readonly operation: Operation,
  ) {
    this.name = `${method} ${template}`;
    this.auth = operation['x-service-auth'];
    this.isAdmin = operation['x-service-admin'] ?? false;
    this.isPage = operation['x-service-page'] ?? false;
    this.role = operation['x-service-role'] ?? null;
    this.scopes = operation['x-service-scopes'] ?? [];
    this.ownErrors = operation['x-service-errors'] ?? [];
    const { any, keyed, changing } = document['x-service-errors'];
    this.sharedErrors = [...any, ...(this.auth === 'public' ? [] : keyed), ...(method === 'GET' ? [] : changing)];
    this.parameters = (operation.parameters ?? []).map((each) =>
      '$ref' in each ? (each.$ref.split('/').at(-1) as string) : each.name,
    );
    this.takesBody = operation.requestBody !== undefined;
    this.bodyExample = exampleOf(operation.requestBody?.content['application/json']);
  }

  /** Of an answer that refuses nothing. */
  get successes(): readonly number[] {
    return Object.keys(this.operation.responses)
      .map(Number)
      .filter((status) => status < 300);
  }

  /** `default` stands for the codes that the operation shares with others, and for nothing else. */
  responseTo(status: number, code: string | null): Response | null {
    const isShared = code !== null && this.sharedErrors.includes(code);
    const { responses } = this.operation;
    const found = responses[String(status)] ?? (isShared ? responses['default'] : undefined);
    if (!found) return null;
    return '$ref' in found ? (document.components.responses[found.$ref.split('/').at(-1) as string] ?? null) : found;
  }
}

/** Every operation of the interface description. */
export const OPERATIONS: readonly DescribedOperation[] = Object.entries(document.paths).flatMap(([template, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => new DescribedOperation(method.toUpperCase(), template, operation)),
);

/** The operations of a path, whatever the method: those without parameters first, as in the router. */
const operationsAt = (target: string): readonly DescribedOperation[] => {
  const segments = (target.split('?', 1)[0] as string).split('/');
  const fitting = OPERATIONS.filter(({ template }) => {
    const parts = template.split('/');
    const isFitting = parts.every((part, index) => part.startsWith('{') || part === segments[index]);
    return parts.length === segments.length && isFitting;
  });
  return fitting.toSorted((one, other) => one.template.split('{').length - other.template.split('{').length);
};

/** The operation that serves a request; null when none is described. */
export const operationFor = (method: string, target: string): DescribedOperation | null =>
  operationsAt(target).find((operation) => operation.method === method) ?? null;

/** What `Allow` says of a path: HEAD is answered where GET is. */
export const allowedAt = (target: string): string => {
  const methods = new Set(operationsAt(target).map(({ method }) => method));
  return [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort().join(', ');
};

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; null, or without members, when it is no JSON object. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

/** How an answer differs from what the interface description says of its operation; none when it does not. */
export const undescribedIn = (method: string, path: string, answer: HttpAnswer): readonly string[] => {
  const faults = faultsOf(operationFor(method, path), answer);
  return faults.map((fault) => `${method} ${path}: ${fault}`);
};

const faultsOf = (operation: DescribedOperation | null, { status, headers, json }: HttpAnswer): readonly string[] => {
  if (!operation) return ['is not described'];
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  const code = isJson ? codeIn(json) : null;
  if (code !== null && ![...operation.ownErrors, ...operation.sharedErrors].includes(code))
    return [`the code ${code} is not described`];
  const response = operation.responseTo(status, code);
  if (!response) return [`status ${status} is not described${code === null ? '' : ` for ${code}`}`];
  const described = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const unknownHeaders = [...headers.keys()].filter((name) => isOurs(name) && !described.includes(name));
  return [
    ...unknownHeaders.map((name) => `the header ${name} is not described`),
    ...bodyFaults(response, json, isJson),
  ];
};

const codeIn = (json: HttpAnswer['json']): string | null => {
  const error = json?.['error'] as { readonly code?: unknown } | undefined;
  return typeof error?.code === 'string' ? error.code : null;
};

/** Headers that say something about this answer, not about the transport or about every answer. */
const isOurs = (name: string): boolean =>
  name.startsWith('service-') || ['allow', 'etag', 'location', 'retry-after', 'www-authenticate'].includes(name);

/** What a document of ours breaks of a schema of the interface description; nothing where it is as described. */
export const undescribedBy = (schema: string, json: unknown): readonly string[] => {
  const validate = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
  validate(json);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
};

const bodyFaults = ({ content }: Response, json: HttpAnswer['json'], isJson: boolean): readonly string[] => {
  if (!isJson || json === null) return [];
  const schema = content?.['application/json']?.schema;
  if (!schema) return ['is described without JSON'];
  const validate = validatorOf(schema);
  validate(json);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
};

/** Compiled once: some tests hold thousands of answers against a few schemas. */
const validators = new WeakMap<object, ValidateFunction>();

const validatorOf = (schema: object): ValidateFunction => {
  const known = validators.get(schema);
  if (known) return known;
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object);
  validators.set(schema, validate);
  return validate;
};
