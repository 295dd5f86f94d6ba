/** What the addresses of a destination are, as the egress rules classify them. */
export interface ReachedAddresses {
  readonly public: number;
  readonly private: number;
  /** Neither: an operator has opened them by address. */
  readonly special: number;
}

/** Why TLS did not come up. `no_tls`: what listens there speaks something else, or nothing. */
export type TlsFault =
  'expired' | 'not_yet_valid' | 'other_name' | 'self_signed' | 'unknown_authority' | 'untrusted' | 'no_tls';

/**
 * How far a destination can be reached, without one byte of a request. `blocked`: the rules forbid it, and nothing else is
 * told. `unresolved`: its name has no address. `unconnected`: no address takes a connection.
 */
export type Reach =
  | { readonly kind: 'blocked' }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'unconnected'; readonly why: 'refused' | 'silent' | 'failed' }
  | {
      readonly kind: 'reached';
      readonly addresses: ReachedAddresses;
      /** `none`: plain text, which needs none. */
      readonly tls: 'none' | 'trusted' | TlsFault;
    };

/** Judges where connectors may reach. Adapter: the egress door of libs/infra/src/egress, which judges every dial again. */
export abstract class EgressPolicy {
  /**
   * Resolves and classifies the destination without sending it anything. A name that does not resolve passes: it may
   * exist later, and every dial is judged anew.
   * @throws {DomainError} destination_blocked, with one message for all reasons
   */
  abstract check(url: string): Promise<void>;

  /**
   * Goes to the destination as a call would, up to its first request byte, which is never sent. Never throws for what
   * names, networks and upstreams do.
   */
  abstract reach(url: string): Promise<Reach>;
}
