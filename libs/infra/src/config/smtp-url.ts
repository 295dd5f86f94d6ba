/** The URL names no mail server that this service can use; the message says what is wrong, to follow 'must ...'. */
export class InvalidSmtpUrl extends Error {
  override readonly name = 'InvalidSmtpUrl';
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: from the first byte on (smtps). `starttls`: before anything else is said, or nothing is said at all.
   * `offered`: by STARTTLS where the server offers it. `none`: never, for a server on this very machine.
   * A certificate is always checked.
   */
  readonly encryption: 'implicit' | 'starttls' | 'offered' | 'none';
  readonly login: { readonly user: string; readonly password: string } | null;
}

const SHAPE = 'must be a URL such as smtp://user:password@mail.example:587 or smtps://user:password@mail.example:465';
/** Message submission (RFC 6409), and the same from the first byte on under TLS (RFC 8314). */
const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/**
 * Reads `smtp://user:password@host:587?tls=optional`, all but the host optional. To another machine everything is
 * encrypted, unless `tls=optional` allows a server that cannot; on this one nothing is, unless `tls=required`.
 *
 * @throws {InvalidSmtpUrl}
 */
export const parseSmtpUrl = (text: string): SmtpServer => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const scheme = url?.protocol;
  if (url === null || (scheme !== 'smtp:' && scheme !== 'smtps:') || !HOST.test(url.hostname)) {
    throw new InvalidSmtpUrl(SHAPE);
  }
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') throw new InvalidSmtpUrl('must have no path and no fragment');
  if (url.port === '0') throw new InvalidSmtpUrl('must have a port from 1 to 65535, or none');
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port),
    encryption: encryptionOf(url),
    login: loginOf(url),
  };
};

const encryptionOf = ({ protocol, hostname, searchParams }: URL): SmtpServer['encryption'] => {
  const [parameter, ...others] = [...searchParams];
  const [name, value] = parameter ?? ['tls', LOOPBACK.test(hostname) ? 'none' : 'required'];
  const isKnown = name === 'tls' && (parameter === undefined || value === 'optional' || value === 'required');
  if (!isKnown || others.length > 0) {
    throw new InvalidSmtpUrl(
      'must have no parameter but tls=optional, which allows mail in the clear, or tls=required',
    );
  }
  if (protocol === 'smtps:') {
    if (value === 'optional')
      throw new InvalidSmtpUrl('must begin with smtp:// where tls=optional allows mail in the clear');
    return 'implicit';
  }
  return value === 'required' ? 'starttls' : value === 'optional' ? 'offered' : 'none';
};

const loginOf = ({ username, password }: URL): SmtpServer['login'] => {
  if (username === '' && password === '') return null;
  if (username === '' || password === '') throw new InvalidSmtpUrl('must have both a user and a password, or neither');
  try {
    const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
    if (/\p{Cc}/u.test(login.user + login.password)) {
      throw new InvalidSmtpUrl('must have no control character in its user and password');
    }
    return login;
  } catch (error) {
    if (error instanceof InvalidSmtpUrl) throw error;
    throw new InvalidSmtpUrl('must have its user and password percent-encoded: % is written %25');
  }
};
