import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { InvalidAllowEntry, parseAllowEntry } from '../egress/index.js';
import { InvalidFailpoints, parseFailpoints } from '../failpoints/index.js';
import { InvalidKurrentUrl, parseKurrentUrl } from './kurrent-url.js';
import { InvalidMailAddress, parseMailSender } from './mail-address.js';
import { redisUrlFault } from './redis-url.js';
import { InvalidSmtpUrl, parseSmtpUrl } from './smtp-url.js';

/** One setting: how it is read, and what `ags config` says about it. */
export interface Setting<Value> {
  readonly variable: string;
  readonly description: string;
  /** As text, for the help; null when absent means a behaviour that `description` names. */
  readonly default: string | null;
  /** @throws {SettingProblem} */
  readonly parse: (text: string | undefined) => Value;
}

export class SettingProblem extends Error {}

const problem = (message: string): never => {
  throw new SettingProblem(message);
};

export const setting = <Value>(
  variable: string,
  fallback: string | null,
  description: string,
  read: (text: string) => Value,
  absent?: Value,
): Setting<Value> => ({
  variable,
  description,
  default: fallback,
  parse: (text) => {
    // An empty variable is how shells and compose files leave one unset.
    if (text !== undefined && text !== '') return read(text);
    return fallback === null ? (absent as Value) : read(fallback);
  },
});

export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    const isWhole = /^\d{1,15}$/.test(text) && value >= min && value <= max;
    return isWhole ? value : problem(`must be a whole number from ${min} to ${max}`);
  };

export const oneOf =
  <Choice extends string>(...choices: readonly Choice[]) =>
  (text: string): Choice =>
    choices.find((choice) => choice === text) ?? problem(`must be one of ${choices.join(', ')}`);

export const httpUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : problem('must be an http or https URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') problem('must be an http or https URL');
  if (url.username || url.password || url.search || url.hash) problem('must have no user, query or fragment');
  return url.href.replace(/\/$/, '');
};

export const postgresUrl = (text: string): string => {
  const isPostgres = URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
  return isPostgres ? text : problem('must be a postgres:// URL');
};

export const redisUrl = (text: string): string => {
  const fault = redisUrlFault(text);
  return fault === null ? text : problem(fault);
};

export const kurrentUrl = (text: string): string => {
  try {
    parseKurrentUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidKurrentUrl)) throw error;
    return problem(error.message);
  }
};

/** As text: it holds the password, and what shows settings knows how to hide that of a URL. */
export const smtpUrl = (text: string): string => {
  try {
    parseSmtpUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidSmtpUrl)) throw error;
    return problem(error.message);
  }
};

export const mailSender = (text: string): string => {
  try {
    parseMailSender(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidMailAddress)) throw error;
    return problem(`${error.message}, or have a name before it: Some Name <name@example.com>`);
  }
};

/** Where a listener of its own listens. */
export class ListenAddress {
  constructor(
    readonly host: string,
    readonly port: number,
  ) {}

  /** As it is written in a setting: an IPv6 address stands in brackets. */
  toString(): string {
    return `${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.port}`;
  }
}

export const listenAddress = (text: string): ListenAddress => {
  const [, bracketed, plain, port] = /^(?:\[([^\]\s]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(port) > 65_535
    ? problem('must be host:port, such as 127.0.0.1:9464')
    : new ListenAddress(host, Number(port));
};

export const path = (text: string): string => (isAbsolute(text) ? text : resolve(text));

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Hosts and ranges, each judged as the egress door will read it. */
export const allowEntries = (text: string): readonly string[] => {
  for (const entry of list(text)) {
    try {
      parseAllowEntry(entry);
    } catch (error) {
      if (!(error instanceof InvalidAllowEntry)) throw error;
      problem(`must list hosts and ranges; ${error.message}`);
    }
  }
  return list(text);
};

/** As browsers write them in the header Origin (RFC 6454, section 6.2). */
export const origins = (text: string): readonly string[] => {
  const wrong = list(text).find((entry) => !URL.canParse(entry) || new URL(entry).origin !== entry);
  return wrong === undefined
    ? list(text)
    : problem(`must list origins such as https://app.example:8443; "${wrong}" is none`);
};

/** As text: what it orders counts its hits from when it is armed. */
export const failpointOrders = (text: string): string => {
  try {
    parseFailpoints(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidFailpoints)) throw error;
    return problem(`must list faults to cause; ${error.message}`);
  }
};

export const networks = (text: string): readonly string[] => {
  const wrong = list(text).find((entry) => !isNetwork(entry));
  return wrong === undefined ? list(text) : problem(`must list addresses or CIDR ranges; "${wrong}" is neither`);
};

const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
};
