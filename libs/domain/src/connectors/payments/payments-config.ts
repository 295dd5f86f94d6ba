import type { JsonObject } from '#libs/crypto';

/** What a config may hold at most. */
export const PAYMENTS_LIMITS = {
  configBytes: 65_536,
  currencies: 64,
  /** In minor units: what the processor takes at most in one refund. */
  amountMax: 99_999_999,
  baseUrlCharacters: 2_048,
} as const;

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** A config as stored: every default filled in. */
export interface PaymentsConfig {
  /** Sent on every request, so that the processor answers as it was tested, whatever the account's own version is. */
  readonly api_version: string;
  /** The most that one refund may be, in minor units, by lower-case currency. One that is not listed is refused. */
  readonly refund_limits: Readonly<Record<string, number>>;
  readonly refund_reasons: readonly RefundReason[];
  /** Of development alone: a processor of one's own. Absent: the real one, whose keys say that it is the sandbox. */
  readonly base_url?: string;
}

const PROCESSOR_URL = 'https://api.stripe.com';

/** What the log holds was checked before it was written. */
export const paymentsConfigOf = (stored: JsonObject): PaymentsConfig => stored as unknown as PaymentsConfig;

export const originOf = ({ base_url }: PaymentsConfig): string => base_url ?? PROCESSOR_URL;
