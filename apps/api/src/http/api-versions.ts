import { DomainError, SERVED_API_VERSIONS } from '#libs/domain/kernel';

export const API_VERSION_HEADER = 'Service-Version';

/** Which version of the interface applies to a request. Selection is by header only, never by a nearby date. */
export class ApiVersions {
  readonly latest: string;

  /** @param served oldest first, at least one */
  constructor(readonly served: readonly string[] = SERVED_API_VERSIONS) {
    this.latest = served.at(-1) as string;
  }

  /** For answers given before the version is judged: what the caller sent if it is served, else the latest. */
  echo(sent: readonly string[]): string {
    return sent.length === 1 && this.served.includes(sent[0] as string) ? (sent[0] as string) : this.latest;
  }

  /**
   * @param sent every value of the header, in order
   * @param pinned the organization's version; null on a public endpoint
   * @throws {DomainError} api_version_invalid: unknown, malformed, or sent more than once
   */
  resolve(sent: readonly string[], pinned: string | null): string {
    if (sent.length === 0) return pinned !== null && this.served.includes(pinned) ? pinned : this.latest;
    if (sent.length > 1 || !this.served.includes(sent[0] as string)) {
      throw new DomainError('api_version_invalid', { param: API_VERSION_HEADER });
    }
    return sent[0] as string;
  }
}
