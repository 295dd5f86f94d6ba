import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';

import { thrown } from '../../../../../test/support/thrown.js';
import { DomainError } from '../../kernel/index.js';
import { REFUND_REASONS } from './payments-config.js';
import { readPaymentsConfig } from './payments-config.reader.js';
import { PAYMENTS_CONFIG_SCHEMA } from './payments-config.schema.js';
import { PAYMENTS_PLACES } from './payments-keys.js';
import { PAYMENTS } from './payments-type.js';

const MINIMAL: JsonObject = { api_version: '2025-09-30.clover', refund_limits: { eur: 10_000 } };
const read = (value: JsonValue, isProduction = true) => readPaymentsConfig(value, { isProduction });
const refusal = (changes: JsonObject, isProduction = true): [string | null, string] => {
  const { param, message } = thrown(DomainError, () => read({ ...MINIMAL, ...changes }, isProduction));
  return [param, message];
};

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const fits = ajv.compile(PAYMENTS_CONFIG_SCHEMA);

describe('the config of a payments connector', () => {
  it('has its defaults filled in, and its stored form says the same', () => {
    const filled = { ...MINIMAL, refund_reasons: [...REFUND_REASONS] };
    expect(read(MINIMAL)).toEqual(filled);
    expect(read(filled)).toEqual(filled);
  });

  it('may name no currency, and no reason: then nothing is refunded, and none is given', () => {
    const config = { api_version: '2024-06-20', refund_limits: {}, refund_reasons: [] };
    expect(read(config)).toEqual(config);
  });

  it.each<[string, JsonObject, string | null, string]>([
    ['no version', { api_version: '' }, 'config.api_version', 'must'],
    ['a version that is none', { api_version: 'latest' }, 'config.api_version', 'such as 2025-09-30.clover'],
    ['a version with a line break', { api_version: '2025-09-30\r\nX: y' }, 'config.api_version', 'must'],
    ['a fraction', { refund_limits: { eur: 1.5 } }, 'config.refund_limits.eur', 'integer'],
    ['a limit of nothing', { refund_limits: { eur: 0 } }, 'config.refund_limits.eur', '1'],
    ['more than the processor takes', { refund_limits: { eur: 100_000_000 } }, 'config.refund_limits.eur', '99999999'],
    ['a currency in capitals', { refund_limits: { EUR: 1 } }, 'config.refund_limits.EUR', 'three lower-case letters'],
    ['a reason of no processor', { refund_reasons: ['because'] }, 'config.refund_reasons[0]', 'one of duplicate'],
    ['a reason twice', { refund_reasons: ['duplicate', 'duplicate'] }, 'config.refund_reasons', 'once'],
    ['a live mode', { livemode: true }, 'config.livemode', 'sandbox alone'],
    ['a key', { api_key: 'sk_test_x' }, 'config.api_key', 'PUT /v1/connectors/{id}/credentials'],
  ])('is refused with %s', (_, changes, param, words) => {
    const [at, message] = refusal(changes);
    expect(at).toBe(param);
    expect(message).toContain(words);
  });

  it('is refused where a member that it must have is absent', () => {
    expect(thrown(DomainError, () => read({ refund_limits: {} })).param).toBe('config.api_version');
    expect(thrown(DomainError, () => read({ api_version: '2024-06-20' })).param).toBe('config.refund_limits');
  });

  it('is refused above 64 KiB', () => {
    expect(refusal({ [`x${'y'.repeat(70_000)}`]: 1 })[1]).toContain('must have at most 65536 bytes');
  });

  it('names another address in development alone, and nothing but a host there', () => {
    expect(read({ ...MINIMAL, base_url: 'http://127.0.0.1:12111' }, false).base_url).toBe('http://127.0.0.1:12111');
    expect(refusal({ base_url: 'https://payments.example.com' })).toEqual([
      'config.base_url',
      expect.stringContaining('development only') as string,
    ]);
    for (const base_url of ['http://h/path', 'ftp://h', 'http://u:p@h', 'http://h?x', 'http://h#x', 'http://h\\x'])
      expect(refusal({ base_url }, false)[0]).toBe('config.base_url');
  });

  it('leads to the processor, unless it says otherwise', () => {
    const destinations = (config: JsonObject) =>
      PAYMENTS.destinationsOf(PAYMENTS.readConfig(config, { isProduction: false }));
    expect(destinations(MINIMAL)).toEqual(['https://api.stripe.com']);
    expect(destinations({ ...MINIMAL, base_url: 'http://h:1' })).toEqual(['http://h:1']);
  });
});

describe('the schema of it', () => {
  it('knows the keys that the reader knows, and no other', () => {
    expect(Object.keys(PAYMENTS_CONFIG_SCHEMA.properties ?? {}).toSorted()).toEqual(
      [...PAYMENTS_PLACES.config.keys].toSorted(),
    );
    expect(PAYMENTS_CONFIG_SCHEMA.additionalProperties).toBe(false);
  });

  it('takes what the reader takes, as it is sent and as it is stored', () => {
    const whole = { ...MINIMAL, refund_reasons: ['duplicate'], base_url: 'http://127.0.0.1:1' };
    for (const sent of [MINIMAL, whole])
      for (const config of [sent, JSON.parse(JSON.stringify(read(sent, false))) as JsonObject])
        expect([fits(config), fits.errors]).toEqual([true, null]);
  });

  it.each<JsonObject>([
    { refund_limits: { eur: 0 } },
    { refund_limits: { eur: 1.5 } },
    { refund_reasons: ['because'] },
    { refund_reasons: ['duplicate', 'duplicate'] },
    { livemode: true },
  ])('refuses what the reader refuses: %j', (changes) => {
    expect(fits({ ...MINIMAL, ...changes })).toBe(false);
  });
});
