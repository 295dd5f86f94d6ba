import { networkInterfaces } from 'node:os';

import { type AddressClass, classifyAddress, hostOf, isInRange, parseAddress } from './address-class.js';
import { bareName, parseAllowEntry, type AllowEntry } from './allow-entry.js';

export interface OwnEndpoint {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** Others may be served at its addresses, as behind one load balancer or CDN: it is known by its name alone. */
  readonly isShared?: true;
}

export interface EgressSettings {
  /** Development: loopback, RFC 1918 and unique local addresses, any port. */
  readonly allowPrivate: boolean;
  /** Development: `http`. The allow-list opens addresses and ports alone: a credential never leaves in the clear. */
  readonly allowPlainText: boolean;
  /**
   * What an operator opens beyond the public internet: `10.1.0.0/16`, `10.1.2.3`, `fd00::/8`, `crm.corp`, `*.corp.example`,
   * each with or without `:port` (`[fd00::1]:8443`). Without a port every port of it is open. A name opens public and
   * private addresses; this machine's own, link-local, metadata and reserved ones are opened by address alone.
   */
  readonly allow: readonly string[];
  /** Where this service listens: never a destination, whatever else is allowed. Asked at every dial. */
  readonly ownEndpoints: () => readonly OwnEndpoint[];
}

/** Outside development; others are opened with the allow-list, also for public hosts. */
const STANDARD_PORTS = [443];

/** Names that mean something inside a network and nothing outside of it. */
const REFUSED_SUFFIXES = [
  'localhost',
  'internal',
  'local',
  'localdomain',
  'home.arpa',
  'lan',
  'corp',
  'home',
  'intranet',
  'private',
  'svc',
  'test',
  'invalid',
  'onion',
];
/** Refused in development too. */
const METADATA_NAMES = ['metadata.google.internal', 'instance-data.ec2.internal', 'metadata.tencentyun.com'];

const SOME_PUBLIC_ADDRESS = '1.1.1.1';

/** Judges a destination by its name, its port and every address it resolves to. Pure but for the machine's own addresses. */
export class DestinationRules {
  private readonly allowed: readonly AllowEntry[];

  /** @throws {InvalidAllowEntry} */
  constructor(private readonly settings: EgressSettings) {
    this.allowed = settings.allow.map(parseAllowEntry);
  }

  get allowsPlainText(): boolean {
    return this.settings.allowPlainText;
  }

  /** `host` as a URL gives it, or an address. Every address must pass: one bad answer blocks the name. */
  areAllowed(host: string, port: number, addresses: readonly string[]): boolean {
    const name = bareName(host);
    return addresses.length > 0 && addresses.every((address) => this.isAllowed(name, port, address));
  }

  /** What is ours at a port, on other machines too: a destination there must lead to none of their addresses. */
  ownHostsAt(port: number): readonly string[] {
    const own = this.settings.ownEndpoints().filter((endpoint) => endpoint.port === port && !endpoint.isShared);
    return [...new Set(own.map(({ host }) => bareName(host)))];
  }

  /** @param ours the addresses of {@link ownHostsAt} */
  leadElsewhere(addresses: readonly string[], ours: readonly string[]): boolean {
    const closed = new Set(ours.map(hostOf));
    return !addresses.some((address) => closed.has(hostOf(address)));
  }

  /** For a name that has no address now: whether any public answer would pass. */
  couldBeAllowed(host: string, port: number): boolean {
    return this.isAllowed(bareName(host), port, SOME_PUBLIC_ADDRESS);
  }

  private isAllowed(name: string, port: number, address: string): boolean {
    if (this.isOwn(name, address, port)) return false;
    if (this.isAddressListed(address, port)) return true;
    if (METADATA_NAMES.includes(name)) return false;
    const found = classifyAddress(address);
    if (this.isNameListed(name, port) && isOpenedByName(name, address, found)) return true;
    if (this.settings.allowPrivate) return found === 'public' || found === 'private';
    return found === 'public' && STANDARD_PORTS.includes(port) && !isInnerName(name);
  }

  private isAddressListed(address: string, port: number): boolean {
    return this.allowed.some(
      (entry) => isForPort(entry, port) && entry.range !== null && isInRange(address, entry.range),
    );
  }

  private isNameListed(name: string, port: number): boolean {
    return this.allowed.some((entry) => {
      if (!isForPort(entry, port) || entry.name === null) return false;
      return entry.name.startsWith('.') ? name.endsWith(entry.name) : entry.name === name;
    });
  }

  /** Our own name may resolve to our own public address (rule EGRESS-6). */
  private isOwn(name: string, address: string, port: number): boolean {
    return this.settings.ownEndpoints().some((own) => {
      if (own.port !== port) return false;
      return hostOf(bareName(own.host)) === hostOf(name) || isOfThisMachine(address);
    });
  }
}

const isForPort = (entry: AllowEntry, port: number): boolean => entry.port === null || entry.port === port;

/**
 * Who lists a name trusts whoever answers for it with hosts of the network: not with this machine, unless it is its name,
 * nor with what only a listed address opens.
 */
const isOpenedByName = (name: string, address: string, found: AddressClass | null): boolean =>
  (found === 'public' || found === 'private') && (!isOfThisMachine(address) || isNameOfLoopback(name));

/** RFC 6761, section 6.3. */
const isNameOfLoopback = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'redis:': 6_379,
  'rediss:': 6_379,
};

/** Where a URL of ours leads. */
export const endpointOf = (url: string): OwnEndpoint => {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port) };
};

/** Where callers reach us, which may be a load balancer that serves others, too. */
export const publicEndpointOf = (baseUrl: string): OwnEndpoint => ({ ...endpointOf(baseUrl), isShared: true });

const isInnerName = (name: string): boolean => {
  if (parseAddress(name) !== null) return false;
  return !name.includes('.') || REFUSED_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
};

const isOfThisMachine = (address: string): boolean => {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  if (parsed.range() === 'loopback' || parsed.range() === 'unspecified') return true;
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return interfaces.some((entry) => hostOf(entry.address) === hostOf(address));
};
