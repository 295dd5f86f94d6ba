import { type Clock, DomainError } from '#libs/domain/kernel';
import { sha256Hex } from '#libs/crypto';
import ipaddr from 'ipaddr.js';
import { parsedAddress } from './client-address.js';

/** Failures an address may make at once; then one every {@link REFILL_MS}. */
export const FAILURE_BURST = 100;
const REFILL_MS = 1_000;
/** Memory stays bounded under any number of addresses and keys: the ones not heard of for longest are forgotten. */
const MAX_ADDRESSES = 10_000;
const MAX_GOOD_KEYS = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * Limits failed keys by client address, per process (rule API-15). A key that worked when it was last used is never
 * held up by what others at its address do (rule KEY-10). 160 bits cannot be guessed, so what is limited is the work
 * that failures cause.
 */
export class FailedKeyLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private readonly goodKeys = new Set<string>();

  constructor(private readonly clock: Clock) {}

  /** @throws {DomainError} rate_limited, with the seconds until the address may fail again */
  admit(ip: string, key: string): void {
    // Where nobody has failed there is nothing to look up.
    if (this.buckets.size === 0) return;
    const tokens = this.tokensOf(networkOf(ip));
    if (tokens >= 1 || this.goodKeys.has(sha256Hex(key))) return;
    throw new DomainError('rate_limited', {
      message:
        'Too many requests with a key that is not valid came from this address. Wait as long as Retry-After says.',
      retryAfterSeconds: Math.ceil(((1 - tokens) * REFILL_MS) / 1_000),
    });
  }

  countFailure(ip: string, key: string): void {
    const network = networkOf(ip);
    this.goodKeys.delete(sha256Hex(key));
    remember(this.buckets, network, {
      tokens: Math.max(0, this.tokensOf(network) - 1),
      atMs: this.clock.monotonicMs(),
    });
    forgetOldest(this.buckets, MAX_ADDRESSES);
  }

  countSuccess(key: string): void {
    const digest = sha256Hex(key);
    this.goodKeys.delete(digest);
    this.goodKeys.add(digest);
    forgetOldest(this.goodKeys, MAX_GOOD_KEYS);
  }

  private tokensOf(network: string): number {
    const bucket = this.buckets.get(network);
    if (!bucket) return FAILURE_BURST;
    return Math.min(FAILURE_BURST, bucket.tokens + (this.clock.monotonicMs() - bucket.atMs) / REFILL_MS);
  }
}

/**
 * The one name of everything that is no address: otherwise a client behind a proxy would get a budget of its own for
 * every word it makes up.
 */
const NO_ADDRESS = 'no address';

/**
 * One client: an IPv4 address, or the /64 of an IPv6 one, which a single host may use up as it likes.
 */
export const networkOf = (ip: string): string => {
  const address = parsedAddress(ip);
  if (address === null) return NO_ADDRESS;
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

const remember = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.delete(key);
  map.set(key, value);
};

const forgetOldest = (collection: Map<string, unknown> | Set<string>, capacity: number): void => {
  if (collection.size > capacity) collection.delete(collection.keys().next().value as string);
};
