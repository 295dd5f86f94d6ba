import type { JsonValue } from '#libs/crypto';

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** A request of a tool without its credential, which is added last (rule REST-9). Types that speak HTTP build it, pure. */
export interface HttpRequest {
  readonly method: HttpMethod;
  /** `https://api.example.com`: scheme, host and port as they are dialled. */
  readonly origin: string;
  /** With the path of the base URL in front; never a query. */
  readonly path: string;
  /** Encoded, without the question mark; empty when there is none. */
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Text; null when the tool sends no body. */
  readonly body: string | null;
  /** Values of arguments marked `sensitive`: the redactor's, never an error's or a log's. */
  readonly sensitive: readonly JsonValue[];
}
