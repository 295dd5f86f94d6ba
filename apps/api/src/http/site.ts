import { isIP } from 'node:net';

/** Where the service is reached, as browsers name it. */
export class Site {
  private url: URL;

  /** @param baseUrl {base_url} of the settings, or what it will be with the port that was asked for */
  constructor(baseUrl: string) {
    this.url = new URL(baseUrl);
  }

  /** {base_url} as it turned out: a port that was left to the system is known once the server listens. */
  isServedAt(baseUrl: string): void {
    this.url = new URL(baseUrl);
  }

  get baseUrl(): string {
    return this.url.href.replace(/\/$/, '');
  }

  /** Cookies are Secure, and bear the `__Host-` names. */
  get isSecure(): boolean {
    return this.url.protocol === 'https:';
  }

  /**
   * What passkeys are for here; null where browsers have none: at an IP address, and without https. In development, on a
   * loopback address, it is `localhost`, which is another name of the same site.
   */
  get relyingParty(): { readonly id: string; readonly origin: string } | null {
    const { hostname, origin, port } = this.url;
    if (!this.isSecure) {
      if (!LOOPBACK.includes(hostname)) return null;
      return { id: 'localhost', origin: `http://localhost${port === '' ? '' : `:${port}`}` };
    }
    // An IPv6 address stands in brackets.
    return isIP(hostname) !== 0 || hostname.startsWith('[') ? null : { id: hostname, origin };
  }

  /**
   * Whether an Origin header (RFC 6454, section 7) names this service: byte for byte as browsers write it. In development,
   * on a loopback address, the other names of that address are the same site.
   */
  isOwnOrigin(origin: string): boolean {
    if (origin === this.url.origin) return true;
    if (this.isSecure || !LOOPBACK.includes(this.url.hostname)) return false;
    const port = this.url.port === '' ? '' : `:${this.url.port}`;
    return LOOPBACK.some((host) => origin === `http://${host}${port}`);
  }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
