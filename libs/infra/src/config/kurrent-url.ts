import { resolve } from 'node:path';

const SHAPE =
  /^(?:esdb|kurrentdb|kurrent)(?<discover>\+discover)?:\/\/(?:(?<user>[^:@/?]*):(?<password>[^@/?]*)@)?(?<hosts>[^@/?]+)\/?(?:\?(?<query>.*))?$/;
const HOST = /^(?<host>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(?<port>[1-9]\d{0,4}))?$/;
const DEFAULT_PORT = 2113;
/** A server that answers no ping for so long is given up, with the connection. Half of it is the client's own default. */
const PING_ANSWER_MS = 3_000;
/** A node that does not say by then who leads is passed over for the next. A fifth of the client's own default. */
const GOSSIP_ANSWER_S = 1;

/** The URL names no event store that this service can use; the message says what is wrong, to follow 'must ...'. */
export class InvalidKurrentUrl extends Error {
  override readonly name = 'InvalidKurrentUrl';
}

export interface KurrentAddress {
  /** As the client reads it. Holds the password. */
  readonly connectionString: string;
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** Who leads is chosen by the nodes, and may change. */
  readonly isCluster: boolean;
  /** Of the authority that signs the certificates of its nodes; null for those that Node.js knows. */
  readonly caFile: string | null;
  /** Null on a server without TLS: it knows no users. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/**
 * Reads `esdb://user:password@host:2113,host:2113?tls=true&tlsCAFile=ca.crt`, or `esdb+discover://` with one DNS name for
 * all nodes; `kurrentdb` is the newer word for `esdb`. Refuses what the client would silently ignore.
 *
 * @throws {InvalidKurrentUrl}
 */
export const parseKurrentUrl = (text: string): KurrentAddress => {
  const parts = SHAPE.exec(text)?.groups;
  if (!parts) throw new InvalidKurrentUrl('must be a URL such as esdb://host:2113?tls=true');
  const nodes = (parts.hosts as string).split(',').map((host, index) => nodeOf(host, index + 1));
  const discover = parts.discover ?? '';
  if (discover !== '' && nodes.length > 1) {
    throw new InvalidKurrentUrl('must name one host after +discover: the DNS name of all nodes');
  }
  const parameters = parametersOf(parts.query ?? '');
  const isSecure = parameters.get('tls') !== 'false';
  const credentials = isSecure ? credentialsOf(parts.user, parts.password) : null;
  const caFile = parameters.get('tlsCAFile');
  if (caFile !== undefined) parameters.set('tlsCAFile', resolve(caFile));
  const isCluster = discover !== '' || nodes.length > 1;
  if (!parameters.has('keepAliveTimeout')) parameters.set('keepAliveTimeout', String(PING_ANSWER_MS));
  if (isCluster && !parameters.has('gossipTimeout')) parameters.set('gossipTimeout', String(GOSSIP_ANSWER_S));
  const user = credentials
    ? `${encodeURIComponent(credentials.username)}:${encodeURIComponent(credentials.password)}@`
    : '';
  const hosts = nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  const query = [...parameters].map(([key, value]) => `${key}=${value}`).join('&');
  return {
    connectionString: `esdb${discover}://${user}${hosts}?${query}`,
    nodes,
    isCluster,
    caFile: parameters.get('tlsCAFile') ?? null,
    credentials,
  };
};

/** Named by its place: where a password was typed with a `?` or `@` of its own, a part of it stands here. */
const nodeOf = (text: string, place: number): { host: string; port: number } => {
  const { host, port = String(DEFAULT_PORT) } = HOST.exec(text)?.groups ?? {};
  if (host === undefined || Number(port) > 65_535) {
    throw new InvalidKurrentUrl(`must name its hosts as host:port, IPv6 addresses by a name; host ${place} is neither`);
  }
  return { host, port: Number(port) };
};

const credentialsOf = (user: string | undefined, password: string | undefined): KurrentAddress['credentials'] => {
  if (!user || !password) {
    throw new InvalidKurrentUrl(
      'must name a user and password: a server with TLS takes no others (tls=false has none)',
    );
  }
  try {
    return { username: decodeURIComponent(user), password: decodeURIComponent(password) };
  } catch {
    throw new InvalidKurrentUrl('must percent-encode what is no letter or digit in user and password');
  }
};

type Judge = (value: string) => boolean;
const isBoolean: Judge = (value) => value === 'true' || value === 'false';
const isWhole =
  (min: number): Judge =>
  (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= min;

/** Everything else is refused: the client ignores what it does not know, and some of what it knows would break promises. */
const PARAMETERS: Readonly<Record<string, readonly [judge: Judge, wanted: string]>> = {
  tls: [isBoolean, 'true or false'],
  tlsCAFile: [(value) => value.length > 0, 'a file'],
  nodePreference: [(value) => value === 'leader', 'leader: whoever decides must not read from a follower'],
  maxDiscoverAttempts: [isWhole(1), 'a whole number from 1'],
  discoveryInterval: [isWhole(1), 'milliseconds'],
  gossipTimeout: [isWhole(1), 'seconds'],
  keepAliveInterval: [isWhole(10_000), 'milliseconds, at least 10000'],
  keepAliveTimeout: [isWhole(1), 'milliseconds'],
};

const parametersOf = (query: string): Map<string, string> => {
  const parameters = new Map<string, string>();
  const pairs = query.split('&').filter((part) => part !== '');
  for (const [index, pair] of pairs.entries()) {
    const [, key = pair, value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    const name = Object.keys(PARAMETERS).find((known) => known.toLowerCase() === key.toLowerCase());
    if (name === undefined) {
      // Named by its place: the rest of a password stands here that was typed with a `?`.
      const known = Object.keys(PARAMETERS).join(', ');
      const rule = `must have no parameters but ${known}; parameter ${index + 1} is another`;
      throw new InvalidKurrentUrl(`${rule}. A password writes ? as %3F, @ as %40`);
    }
    const [judge, wanted] = PARAMETERS[name] as readonly [Judge, string];
    if (!judge(value)) throw new InvalidKurrentUrl(`must give ${name} as ${wanted}`);
    parameters.set(name, value);
  }
  return parameters;
};
