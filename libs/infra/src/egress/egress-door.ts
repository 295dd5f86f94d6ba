import type { Socket } from 'node:net';

import type { EgressPolicy, Reach } from '#libs/domain/connectors';
import { DomainError, type EndSignal, type ErrorCode } from '#libs/domain/kernel';

import { ConnectionPool } from './connection-pool.js';
import { type Destination, Dialer, unlessAborted } from './dialer.js';
import { DestinationRules, type EgressSettings } from './destination-rules.js';
import { EgressFailure } from './egress-failure.js';
import { exchange, type EgressResponse, type OutgoingRequest } from './exchange.js';
import { type EgressStream, streamedExchange } from './streamed-exchange.js';
import { type Resolve, systemResolver } from './resolver.js';

export interface EgressRequest extends Omit<OutgoingRequest, 'authority'> {
  /** Whose request it is, organization and connector: connections are never shared beyond it. */
  readonly partition: string;
  /** Scheme, host and port; nothing else of the URL is read. */
  readonly origin: string;
  /**
   * A kept connection may carry it. Only for requests that may be repeated: a server may close a kept connection just as
   * the request leaves, and then nobody knows whether it arrived.
   */
  readonly mayReuseConnection: boolean;
  /** Asked when the connection is up and before the first request byte. A code means: send nothing. */
  readonly mayStillSend: () => Promise<ErrorCode | null>;
}

export type EgressStreamRequest = Omit<EgressRequest, 'keptResponseBytes' | 'mayReuseConnection'>;

export interface EgressDoorOptions {
  readonly settings: EgressSettings;
  /** How names are resolved; default the operating system's way. */
  readonly resolve?: Resolve;
  /** PEM certificates of authorities trusted beside the usual ones. */
  readonly certificateAuthorities?: readonly string[];
}

const CHECK_TIMEOUT_MS = 3_000;
/** Of a whole way to a destination. A name with several addresses may have some that do not answer. */
const REACH_TIMEOUT_MS = 10_000;

/**
 * The door that every outbound call passes (rule EGRESS-1): names are resolved once, every answer is judged, the judged
 * address is dialled and the connected one compared. Proxy settings of the environment mean nothing here. Redirects are
 * answers like any other: who follows one knocks again.
 */
export class EgressDoor implements EgressPolicy {
  private readonly dialer: Dialer;
  private readonly pool = new ConnectionPool();

  constructor(options: EgressDoorOptions) {
    const rules = new DestinationRules(options.settings);
    this.dialer = new Dialer(rules, options.resolve ?? systemResolver(), options.certificateAuthorities);
  }

  async check(url: string): Promise<void> {
    const destination = destinationOf(url);
    try {
      await unlessAborted(this.dialer.addressesOf(destination), AbortSignal.timeout(CHECK_TIMEOUT_MS));
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error;
      if (error.reason === 'blocked') throw new DomainError('destination_blocked', { cause: error });
    }
  }

  async reach(url: string): Promise<Reach> {
    try {
      return await this.dialer.reach(destinationOf(url), AbortSignal.timeout(REACH_TIMEOUT_MS));
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error;
      // A name that is not answered in time has no address either.
      return error.reason === 'blocked' ? { kind: 'blocked' } : { kind: 'unresolved' };
    }
  }

  /** @throws {EgressFailure} */
  async request(request: EgressRequest): Promise<EgressResponse> {
    const destination = destinationOf(request.origin);
    const key = `${request.partition}\n${request.origin}`;
    const isKept = request.mayReuseConnection;
    const socket = await this.readySocket(request, destination, key);
    const outgoing = { authority: new URL(request.origin).host, ...request };
    const { response, keptForMs } = await exchange(socket, outgoing, isKept);
    if (keptForMs !== null) this.pool.give(key, socket, keptForMs);
    return response;
  }

  /**
   * As {@link request}, on a connection of its own, with a body that is read as it comes: for answers that may stay open
   * after what was asked for has come. Whoever gets one reads its pieces, or closes it.
   * @throws {EgressFailure} and so does reading the pieces
   */
  async stream(request: EgressStreamRequest): Promise<EgressStream> {
    const key = `${request.partition}\n${request.origin}`;
    const socket = await this.readySocket(
      { ...request, mayReuseConnection: false },
      destinationOf(request.origin),
      key,
    );
    return streamedExchange(socket, { authority: new URL(request.origin).host, ...request });
  }

  /**
   * A connection to a PostgreSQL server, encrypted as its URL says, on which nothing of PostgreSQL's own was said yet:
   * for protocols other than HTTP, whose callers ask by themselves whether they may still send.
   * @param url `postgres://host:port/?sslmode=disable`, `require` (encrypted, to whomever) or `verify-full`
   * @throws {EgressFailure} blocked, unreachable, untrusted, timeout: nothing was sent
   */
  connect(url: string, signal: EndSignal): Promise<Socket> {
    return this.dialer.dial(destinationOf(url), signal);
  }

  /** Closes what waits; requests under way end by themselves. */
  close(): void {
    this.pool.close();
  }

  /** A connection that is up, and the caller's word that the request may go. */
  private async readySocket(
    request: Omit<EgressRequest, 'keptResponseBytes'>,
    destination: Destination,
    key: string,
  ): Promise<Socket> {
    for (;;) {
      const kept = request.mayReuseConnection ? this.pool.take(key) : null;
      const socket = kept?.socket ?? (await this.dialer.dial(destination, request.signal));
      try {
        await requirePermission(request);
      } catch (error) {
        socket.destroy();
        throw error;
      }
      kept?.begin();
      // `readable` turns false when the server has ended its side while we asked.
      if (!socket.destroyed && socket.readable && socket.writable) return socket;
      socket.destroy();
      // Nothing was sent, so another connection may do; a fresh one that fails is the destination's answer.
      if (kept === null) throw new EgressFailure('unreachable', false);
    }
  }
}

const requirePermission = async ({
  mayStillSend,
  signal,
}: Pick<EgressRequest, 'mayStillSend' | 'signal'>): Promise<void> => {
  const code = await unlessAborted(mayStillSend(), signal).catch((error: unknown) => {
    if (error instanceof EgressFailure) throw error;
    // Whoever cannot say yes has said no.
    throw new EgressFailure('withdrawn', false, { code: 'service_unavailable', cause: error });
  });
  if (code !== null) throw new EgressFailure('withdrawn', false, { code });
};

const POSTGRES_PORT = 5_432;

const destinationOf = (url: string): Destination => {
  const { protocol, hostname, port, searchParams } = new URL(url);
  if (protocol === 'postgres:') {
    const mode = searchParams.get('sslmode');
    const postgres = { isVerified: mode !== 'require' };
    return { isTls: mode !== 'disable', host: hostname, port: port === '' ? POSTGRES_PORT : Number(port), postgres };
  }
  const isTls = protocol === 'https:';
  return { isTls, host: hostname, port: port === '' ? (isTls ? 443 : 80) : Number(port) };
};
