import { canonicalBytes, CURRENCY_PATTERN, type JsonObject, type JsonValue } from '#libs/crypto';

import { hostNameFault } from '../../kernel/index.js';
import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';
import { PAYMENTS_LIMITS, type PaymentsConfig, REFUND_REASONS, type RefundReason } from './payments-config.js';
import { PAYMENTS_PLACES } from './payments-keys.js';

/** As the processor names them: `2024-06-20`, or with the name of a release, `2025-09-30.clover`. */
const VERSION = /^20[0-9]{2}-[0-9]{2}-[0-9]{2}(?:\.[a-z]{1,32})?$/;
/** Scheme, host and port alone. */
const ORIGIN = /^https?:\/\/[^\s\p{Cc}\\@?#/]+$/u;

export interface PaymentsConfigSettings {
  readonly isProduction: boolean;
}

/**
 * Reads the config of a payments connector and fills the defaults in.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.refund_limits.eur`
 */
export const readPaymentsConfig = (value: JsonValue, settings: PaymentsConfigSettings): PaymentsConfig => {
  const problems = new ConfigProblems(value);
  const bytes = canonicalBytes(value).byteLength;
  if (bytes > PAYMENTS_LIMITS.configBytes) {
    problems.report('config', `must have at most ${PAYMENTS_LIMITS.configBytes} bytes, not ${bytes}.`);
    problems.throwIfAny();
  }
  const config = readConfig(value, settings, problems);
  problems.throwIfAny();
  return config as PaymentsConfig;
};

const readConfig = (
  value: JsonValue,
  settings: PaymentsConfigSettings,
  problems: ConfigProblems,
): PaymentsConfig | undefined => {
  const reader = ConfigReader.of(value, 'config', problems);
  if (reader === null) return undefined;
  const apiVersion = readVersion(reader);
  const refundLimits = readLimits(reader);
  const refundReasons = readReasons(reader);
  const baseUrl = readBaseUrl(reader, settings);
  reader.refuseUnknown(PAYMENTS_PLACES.config);
  if (apiVersion === undefined || refundLimits === undefined || refundReasons === undefined) return undefined;
  const config = { api_version: apiVersion, refund_limits: refundLimits, refund_reasons: refundReasons };
  return baseUrl === undefined ? config : { ...config, base_url: baseUrl };
};

const readVersion = (reader: ConfigReader): string | undefined => {
  const text = reader.text('api_version', { maxCharacters: 64, isRequired: true });
  if (text === undefined || VERSION.test(text)) return text;
  return reader.report('api_version', 'must be a version of the processor, such as 2025-09-30.clover.');
};

const readLimits = (reader: ConfigReader): Readonly<Record<string, number>> | undefined => {
  reader.require('refund_limits');
  if (!reader.has('refund_limits')) return undefined;
  const limits = ConfigReader.of(reader.raw('refund_limits'), reader.at('refund_limits'), reader.problems);
  if (limits === null) return undefined;
  const currencies = Object.keys(limits.object);
  const { currencies: most, amountMax } = PAYMENTS_LIMITS;
  if (currencies.length > most) return reader.report('refund_limits', `must have at most ${most} currencies.`);
  const read = currencies.map((currency): readonly [string, number | undefined] => {
    if (!CURRENCY_PATTERN.test(currency)) {
      return [currency, limits.report(currency, 'is no currency: three lower-case letters, such as eur.')];
    }
    return [currency, limits.integer(currency, { min: 1, max: amountMax })];
  });
  return Object.fromEntries(read.filter((entry): entry is [string, number] => entry[1] !== undefined));
};

const readReasons = (reader: ConfigReader): readonly RefundReason[] | undefined => {
  if (!reader.has('refund_reasons')) return REFUND_REASONS;
  const given = reader.list('refund_reasons', { min: 0, max: REFUND_REASONS.length });
  if (given === undefined) return undefined;
  const reasons = given.map((reason) => REFUND_REASONS.find((known) => known === reason));
  const unknown = reasons.indexOf(undefined);
  if (unknown >= 0) {
    return reader.report(`refund_reasons[${unknown}]`, `must be one of ${REFUND_REASONS.join(', ')}.`);
  }
  if (new Set(reasons).size < reasons.length) return reader.report('refund_reasons', 'must name each reason once.');
  return reasons as readonly RefundReason[];
};

const readBaseUrl = (reader: ConfigReader, { isProduction }: PaymentsConfigSettings): string | undefined => {
  const text = reader.text('base_url', { maxCharacters: PAYMENTS_LIMITS.baseUrlCharacters });
  if (text === undefined) return undefined;
  if (isProduction) {
    return reader.report('base_url', 'is for development only: calls go to the processor, and nowhere else.');
  }
  if (!ORIGIN.test(text) || !URL.canParse(text)) {
    return reader.report('base_url', 'must be http:// or https://, a host and where it needs one a port, and no path.');
  }
  const hostFault = hostNameFault(text);
  return hostFault === null ? text : reader.report('base_url', `${hostFault}, so it leads nowhere.`);
};

/** The JSON that is stored and hashed. */
export const storedPaymentsConfigOf = (config: PaymentsConfig): JsonObject => config as unknown as JsonObject;
