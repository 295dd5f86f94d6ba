import { closestName } from '#libs/domain/kernel';
import type { Role } from '#libs/domain/people';
import { DEFAULT_MAX_BODY_BYTES, DEFAULT_TIMEOUT_MS, type RouteOptions } from './route.decorator.js';

export type ShapeClass = new () => object;

export interface RouteEntry extends Required<Omit<RouteOptions, 'role'>> {
  /** Null where no person can call it. */
  readonly role: Role | null;
  readonly method: string;
  /** As the router writes it: `/v1/actions/:id`. */
  readonly pattern: string;
  /** As the documentation and the log write it: `/v1/actions/{id}`. */
  readonly template: string;
  /** The class of the `@Body()` parameter; null when the route takes no body. */
  readonly bodyShape: ShapeClass | null;
  /** The class of the `@Query()` parameter; null when the route takes none. */
  readonly queryShape: ShapeClass | null;
  /** `Controller.method`, for messages at start-up. */
  readonly handler: string;
}

export type DeclaredRoute = Pick<RouteEntry, 'method' | 'pattern' | 'bodyShape' | 'queryShape' | 'handler'> & {
  readonly options: RouteOptions;
};

/** Edits between what was sent and a fixed path for which a suggestion is made (rule API-4). */
const SUGGESTION_MAX_EDITS = 2;

/** The one route that answers while the service drains. */
export const HEALTH_PATTERN = '/v1/health';

/** Every route of the application. The edge serves nothing that is not in here. */
export class RouteTable {
  private readonly byMethodAndPattern = new Map<string, RouteEntry>();
  private readonly served: { readonly method: string; readonly pattern: string }[] = [];

  add({ options, ...route }: DeclaredRoute): void {
    const isPublic = options.auth === 'public';
    const entry: RouteEntry = {
      ...route,
      template: route.pattern.replace(/:(\w+)/g, '{$1}'),
      role: null,
      sameOrigin: false,
      scopes: [],
      admin: false,
      agentsInstead: '',
      maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
      largeBodyAdvice: 'Send less.',
      ledgerList: false,
      unknownQuery: options.ledgerList ? 'refused' : 'ignored',
      unversioned: false,
      idempotency: route.method === 'POST' && !isPublic ? 'generic' : 'none',
      stop: 'refuses',
      confirms: 'guard',
      argumentFaults: 'refused',
      rawBody: false,
      textBody: false,
      isProtectedResource: false,
      page: false,
      has: () => true,
      timeoutMs: DEFAULT_TIMEOUT_MS,
      ...options,
    };
    this.byMethodAndPattern.set(`${entry.method} ${entry.pattern}`, entry);
  }

  /** HEAD is answered by the GET route, without its body. */
  find(method: string, pattern: string): RouteEntry | null {
    return this.byMethodAndPattern.get(`${method === 'HEAD' ? 'GET' : method} ${pattern}`) ?? null;
  }

  /** Called for every route that the router was given, whoever added it. */
  noteServed(method: string, pattern: string): void {
    this.served.push({ method, pattern });
  }

  /** Routes that the router serves and nobody declared, as `METHOD /pattern`. */
  undeclared(): readonly string[] {
    const unknown = this.served.filter(({ method, pattern }) => this.find(method, pattern) === null);
    return unknown.map(({ method, pattern }) => `${method} ${pattern}`);
  }

  entries(): readonly RouteEntry[] {
    return [...this.byMethodAndPattern.values()];
  }

  /** Methods that some route serves at this path, in alphabetic order; none when there is no such path. */
  allowedMethods(path: string): readonly string[] {
    const segments = path.split('/');
    const methods = new Set<string>();
    for (const { method, pattern, has } of this.byMethodAndPattern.values()) {
      const parameters = parametersOf(pattern.split('/'), segments);
      if (parameters === null || !has(parameters)) continue;
      methods.add(method);
      if (method === 'GET') methods.add('HEAD');
    }
    return [...methods].sort();
  }

  /** The closest path without parameters, when it is close enough to be what was meant. */
  suggestionFor(path: string): string | null {
    const fixed = this.entries().filter(({ pattern }) => !pattern.includes(':'));
    return closestName(
      path,
      fixed.map(({ pattern }) => pattern),
      SUGGESTION_MAX_EDITS,
    );
  }
}

/** Null where the pattern does not cover the path. */
const parametersOf = (
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null => {
  const isCovered =
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]));
  if (!isCovered) return null;
  const named = pattern.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), segments[index]]] : []));
  return Object.fromEntries(named) as Record<string, string>;
};
