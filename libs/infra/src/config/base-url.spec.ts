import { describe, expect, it } from 'vitest';
import { baseUrlOf } from './base-url.js';

describe('the base URL', () => {
  it('is the one that the setting names', () =>
    expect(baseUrlOf({ baseUrl: 'https://ags.example/x', host: '0.0.0.0' }, 8080)).toBe('https://ags.example/x'));

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080'],
    ['ags.example', 'http://ags.example:8080'],
    ['::1', 'http://[::1]:8080'],
    ['0.0.0.0', 'http://localhost:8080'],
    ['::', 'http://localhost:8080'],
  ])('without it is where a service on %s can be called: %s', (host, url) =>
    expect(baseUrlOf({ baseUrl: null, host }, 8080)).toBe(url),
  );
});
