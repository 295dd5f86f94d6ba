import { DomainError } from '#libs/domain/kernel';
import { describe, expect, it } from 'vitest';
import { ApiVersions } from './api-versions.js';
import { parseAuthorization } from './authorization-header.js';
import { parseReference } from './call-references.js';
import { parseIdempotencyKey } from './idempotency-key.js';

/** What a parser refused with, in the three parts that callers see. */
const refusalOf = (run: () => unknown): [string, number, string | null] => {
  try {
    run();
  } catch (error) {
    if (error instanceof DomainError) return [error.code, error.status, error.param];
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('Authorization', () => {
  it.each([['Bearer k'], ['bearer k'], ['BEARER k'], ['bEaReR k']])('%j is a bearer token in any case', (value) => {
    expect(parseAuthorization([value])).toBe('k');
  });

  it('is required', () => {
    expect(refusalOf(() => parseAuthorization([]))).toEqual(['authentication_required', 401, null]);
  });

  it.each([
    ...['', 'k', 'Bearer', 'Bearer ', 'Bearer  k', ' Bearer k', 'Bearer k ', 'Bearer\tk', 'Bearer k k', 'Bearerk'],
    ...[
      'Basic k',
      'Token k',
      'Digest k',
      'Negotiate k',
      'Bearer=k',
      'Bearer: k',
      'Bearer "k"x y',
      'Bearer k\u0000',
      'Bearer \u00e9',
    ],
  ])('is refused as an invalid key, never read another way: %j', (value) => {
    expect(refusalOf(() => parseAuthorization([value]))).toEqual(['invalid_api_key', 401, null]);
  });

  it('is refused when it was sent twice, also with one value', () => {
    expect(refusalOf(() => parseAuthorization(['Bearer k', 'Bearer k']))).toEqual(['invalid_api_key', 401, null]);
  });
});

describe('references', () => {
  const header = 'Service-On-Behalf-Of';

  it.each(['a', 'x'.repeat(256), 'AZaz09._~:@/+=-'])('take %j', (value) => {
    expect(parseReference(header, [value])).toBe(value);
  });

  it('are optional', () => {
    expect(parseReference(header, [])).toBeNull();
  });

  it.each([[['']], [['x'.repeat(257)]], [['a b']], [['a%20']], [['é']], [['a,b']], [['a\n']], [['a', 'a']]])(
    'are refused with 422 and the name of the header: %j',
    (values) => {
      expect(refusalOf(() => parseReference(header, values))).toEqual(['validation_failed', 422, header]);
    },
  );
});

describe('Idempotency-Key', () => {
  it.each([' ', '~', 'x'.repeat(255), 'with space'])('takes %j', (value) => {
    expect(parseIdempotencyKey([value])).toBe(value);
  });

  it.each([[['']], [['x'.repeat(256)]], [['é']], [['a\u007f']], [['a\tb']], [['a', 'b']]])('refuses %j', (values) => {
    expect(refusalOf(() => parseIdempotencyKey(values))).toEqual(['idempotency_key_invalid', 400, 'Idempotency-Key']);
  });
});

describe('Service-Version', () => {
  const versions = new ApiVersions(['2026-10-01', '2027-03-01']);

  it('applies when it is valid and sent once', () => {
    expect(versions.resolve(['2026-10-01'], '2027-03-01')).toBe('2026-10-01');
  });

  it('is the organization’s pinned version for an authenticated request without it, the latest for a public one', () => {
    expect(versions.resolve([], '2026-10-01')).toBe('2026-10-01');
    expect(versions.resolve([], null)).toBe('2027-03-01');
  });

  it.each([[['2026-10-02']], [['2026-10-1']], [['latest']], [['']], [['2026-10-01', '2026-10-01']]])(
    'is refused, with no fallback to a nearby date: %j',
    (sent) => {
      expect(refusalOf(() => versions.resolve(sent, null))).toEqual(['api_version_invalid', 400, 'Service-Version']);
    },
  );

  it('is echoed before it is judged when it is valid, else the latest is', () => {
    expect(versions.echo(['2026-10-01'])).toBe('2026-10-01');
    expect(versions.echo(['2020-01-01'])).toBe('2027-03-01');
    expect(versions.echo(['2026-10-01', '2026-10-01'])).toBe('2027-03-01');
    expect(versions.echo([])).toBe('2027-03-01');
  });
});
