import { describe, expect, it } from 'vitest';
import { checkedWebhookUrl } from './webhook-url.js';

const judged = (url: string, isProduction = true): unknown => {
  try {
    return checkedWebhookUrl(url, isProduction);
  } catch (error) {
    return error;
  }
};

describe('the URL of a webhook endpoint', () => {
  it.each([
    'https://example.com',
    'https://example.com/hooks?token=a%20b',
    'https://example.com:8443/',
    'https://[2001:4860::1]/',
  ])('may be %s, and stays as it was written', (url) => expect(judged(url)).toBe(url));

  it('may be http outside of production', () => {
    expect(judged('http://example.com', false)).toBe('http://example.com');
    expect(judged('http://example.com')).toMatchObject({ param: 'url', message: expect.stringContaining('https://') });
  });

  it.each<[string, RegExp]>([
    ['ftp://example.com', /begin with/],
    ['file:///etc/passwd', /begin with/],
    ['javascript:alert(1)', /begin with/],
    ['', /begin with/],
    ['https://', /whole URL/],
    ['https://user:secret@example.com', /no user or password/],
    ['https://user@example.com', /no user or password/],
    ['https://good.example\\@evil.example', /no user or password/],
    ['https://good.example\\evil', /blanks or backslashes/],
    ['https://example.com#part', /no fragment/],
    ['https://example.com/a b', /blanks/],
    ['https://exam\tple.com', /blanks/],
    ['https://example.com/\n', /blanks/],
    ['https://example.com:65536', /port/],
    [`https://${'a'.repeat(64)}.example.com/hooks`, /63 characters between two dots/],
    ['https://hooks..example.com', /nothing between two dots/],
    [`https://example.com/${'a'.repeat(2_048)}`, /2048 characters/],
  ])('may not be %j', (url, message) => {
    expect(judged(url)).toMatchObject({
      code: 'validation_failed',
      param: 'url',
      message: expect.stringMatching(message),
    });
    // What stands in it may be a password.
    expect((judged(url) as Error).message).not.toContain('secret');
  });
});
