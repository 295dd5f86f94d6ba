import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, rootCertificates, type TLSSocket } from 'node:tls';

import type { Reach, ReachedAddresses, TlsFault } from '#libs/domain/connectors';
import type { EndSignal } from '#libs/domain/kernel';

import { classifyAddress, parseAddress } from './address-class.js';
import { bareName } from './allow-entry.js';
import type { DestinationRules } from './destination-rules.js';
import { EgressFailure } from './egress-failure.js';
import { askForTls, NoTlsOffered } from './postgres-tls.js';
import type { Resolve } from './resolver.js';

export interface Destination {
  readonly isTls: boolean;
  /** As a URL gives it: a name, an IPv4 address, or an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
  /** Of a PostgreSQL server, which is asked for TLS before it begins. Absent for all others. */
  readonly postgres?: {
    /** Whether its certificate must be good for its name. If not, the way is encrypted, and nobody knows to whom. */
    readonly isVerified: boolean;
  };
}

/** An address that does not answer must leave time for the next one. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A name with more addresses is tried at its first ones; all of them are judged. */
const MAX_TRIED_ADDRESSES = 4;

/** Opens checked connections: resolved once, judged, then dialled by address, so that no second answer can slip in. */
export class Dialer {
  private readonly authorities: string[] | undefined;

  constructor(
    private readonly rules: DestinationRules,
    private readonly resolve: Resolve,
    /** PEM, trusted beside the usual ones: an operator's own. */
    certificateAuthorities: readonly string[] = [],
  ) {
    this.authorities =
      certificateAuthorities.length === 0 ? undefined : [...rootCertificates, ...certificateAuthorities];
  }

  /**
   * The addresses a destination may be dialled at.
   * @throws {EgressFailure} blocked; unreachable when the name has no address
   */
  async addressesOf({ isTls, host, port }: Destination): Promise<readonly string[]> {
    if (!isTls && !this.rules.allowsPlainText) throw new EgressFailure('blocked', false);
    const name = bareName(host);
    const addresses = isIP(name) === 0 ? await this.lookUp(name, port) : [name];
    if (!this.rules.areAllowed(name, port, addresses)) throw new EgressFailure('blocked', false);
    const ours = await this.ownAddressesAt(port);
    if (!this.rules.leadElsewhere(addresses, ours)) throw new EgressFailure('blocked', false);
    return addresses;
  }

  /**
   * A connected socket, TLS finished and verified. No request byte was written.
   * @throws {EgressFailure} blocked, unreachable, untrusted, timeout: nothing was sent
   */
  async dial(destination: Destination, signal: EndSignal): Promise<Socket> {
    const addresses = await unlessAborted(this.addressesOf(destination), signal);
    let last: unknown;
    for (const address of addresses.slice(0, MAX_TRIED_ADDRESSES)) {
      try {
        return await this.dialAddress(destination, address, signal);
      } catch (error) {
        if (error instanceof EgressFailure) throw error;
        last = error;
      }
    }
    throw new EgressFailure('unreachable', false, { cause: last });
  }

  /**
   * The way of {@link dial}, and what became of it. Whatever came up is closed again.
   * @throws {EgressFailure} blocked, unreachable when the name has no address, timeout
   */
  async reach(destination: Destination, signal: EndSignal): Promise<Reach> {
    const addresses = await unlessAborted(this.addressesOf(destination), signal);
    let reach: Reach = { kind: 'unconnected', why: 'failed' };
    for (const address of addresses.slice(0, MAX_TRIED_ADDRESSES)) {
      let socket: Socket;
      try {
        socket = await this.connected(destination, address, signal);
      } catch (error) {
        if (error instanceof EgressFailure && error.reason === 'blocked') throw error;
        if (reach.kind === 'unconnected') reach = { kind: 'unconnected', why: whyUnconnected(error) };
        continue;
      }
      const tls = await this.tlsOver(socket, destination, signal);
      reach = { kind: 'reached', addresses: countOf(addresses), tls };
      // As a call does: another address is asked where no TLS came up, and none where a certificate was no good.
      if (tls !== 'no_tls') return reach;
    }
    return reach;
  }

  private async tlsOver(
    socket: Socket,
    destination: Destination,
    signal: EndSignal,
  ): Promise<'none' | 'trusted' | TlsFault> {
    try {
      (await this.secured(socket, destination, signal)).destroy();
      return destination.isTls ? 'trusted' : 'none';
    } catch (error) {
      return error instanceof EgressFailure && error.reason === 'untrusted' ? certificateFault(error.cause) : 'no_tls';
    }
  }

  private async dialAddress(destination: Destination, address: string, signal: EndSignal): Promise<Socket> {
    return this.secured(await this.connected(destination, address, signal), destination, signal);
  }

  private async connected(destination: Destination, address: string, signal: EndSignal): Promise<Socket> {
    const socket = heard(connect({ host: address, port: destination.port, autoSelectFamily: false, noDelay: true }));
    try {
      await settled(socket, 'connect', signal, CONNECT_TIMEOUT_MS);
      // What was dialled is what was judged; this asks the kernel instead of trusting ourselves.
      const connected = socket.remoteAddress;
      if (connected === undefined || !isSameAddress(connected, address)) throw new EgressFailure('blocked', false);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  private async secured(socket: Socket, destination: Destination, signal: EndSignal): Promise<Socket> {
    if (!destination.isTls) return socket;
    try {
      if (destination.postgres !== undefined) await askForTls(socket, signal, CONNECT_TIMEOUT_MS);
      const secure = this.secure(socket, destination);
      await settled(secure, 'secureConnect', signal, CONNECT_TIMEOUT_MS);
      return secure;
    } catch (error) {
      socket.destroy();
      throw isCertificateError(error) ? new EgressFailure('untrusted', false, { cause: error }) : error;
    }
  }

  private secure(socket: Socket, { host, postgres }: Destination): TLSSocket {
    const name = bareName(host);
    const secure = connectTls({
      socket,
      ...(postgres === undefined ? { ALPNProtocols: ['http/1.1'] } : {}),
      minVersion: 'TLSv1.2',
      rejectUnauthorized: postgres?.isVerified ?? true,
      // An address has no server name; the certificate must then name the address.
      checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ...(this.authorities === undefined ? {} : { ca: this.authorities }),
    });
    return heard(secure);
  }

  /** @throws {EgressFailure} unreachable: where something of ours is cannot be told, so nothing else at its port is dialled */
  private async ownAddressesAt(port: number): Promise<readonly string[]> {
    const hosts = this.rules.ownHostsAt(port);
    const found = hosts.map(async (host) => (isIP(host) === 0 ? this.resolve(host) : [host]));
    try {
      return (await Promise.all(found)).flat();
    } catch (error) {
      throw new EgressFailure('unreachable', false, { cause: error });
    }
  }

  private async lookUp(name: string, port: number): Promise<readonly string[]> {
    try {
      return await this.resolve(name);
    } catch (error) {
      const reason = this.rules.couldBeAllowed(name, port) ? 'unreachable' : 'blocked';
      throw new EgressFailure(reason, false, { cause: error });
    }
  }
}

/** An error that nobody listens to would end the process. Whoever uses the socket learns of it by its `close`. */
const heard = <AnySocket extends Socket>(socket: AnySocket): AnySocket => socket.on('error', () => socket.destroy());

const isSameAddress = (one: string, other: string): boolean =>
  one === other || parseAddress(one)?.toNormalizedString() === parseAddress(other)?.toNormalizedString();

const whyUnconnected = (error: unknown): Extract<Reach, { kind: 'unconnected' }>['why'] => {
  if (error instanceof ConnectTimeout || (error instanceof EgressFailure && error.reason === 'timeout'))
    return 'silent';
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED' ? 'refused' : 'failed';
};

const countOf = (addresses: readonly string[]): ReachedAddresses => {
  const classes = addresses.map(classifyAddress);
  const count = (wanted: (typeof classes)[number]): number => classes.filter((each) => each === wanted).length;
  return { public: count('public'), private: count('private'), special: count('never') };
};

/** Of OpenSSL's verification results and Node's identity check, by code. */
const CERTIFICATE_FAULTS: Readonly<Record<string, TlsFault>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'other_name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown_authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown_authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown_authority',
};

export const certificateFault = (error: unknown): TlsFault => {
  if (error instanceof NoTlsOffered) return 'no_tls';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CERTIFICATE_FAULTS[code] ?? 'untrusted';
};

/** OpenSSL's verification results and Node's identity check, told by code. */
const isCertificateError = (error: unknown): boolean => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_TLS_CERT') || /CERT|SIGNATURE|ISSUER|CRL/.test(code);
};

class ConnectTimeout extends Error {
  constructor() {
    super('no answer to the connection attempt');
  }
}

/** Waits for one event of a socket; its error, a timeout or the caller's signal end the wait. */
const settled = (socket: Socket, event: string, signal: EndSignal, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      clearTimeout(timer);
      socket.off(event, onEvent).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const onEvent = () => {
      finish(resolve);
    };
    const onError = (error: Error) => {
      finish(() => {
        reject(error);
      });
    };
    const onClose = () => {
      onError(new Error('the connection was closed'));
    };
    const onAbort = () => {
      onError(new EgressFailure('timeout', false));
      socket.destroy();
    };
    const timer = setTimeout(() => {
      onError(new ConnectTimeout());
    }, timeoutMs);
    socket.once(event, onEvent).once('error', onError).once('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });

/** @throws {EgressFailure} timeout, as soon as the signal says so; the work then ends unheard */
export const unlessAborted = async <Value>(work: Promise<Value>, signal: EndSignal): Promise<Value> => {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(new EgressFailure('timeout', false));
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
