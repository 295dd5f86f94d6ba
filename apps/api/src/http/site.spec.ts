import { describe, expect, it } from 'vitest';
import { Site } from './site.js';

describe('what passkeys are for', () => {
  it.each([
    ['https://ags.example.com', 'ags.example.com', 'https://ags.example.com'],
    ['https://ags.example.com:8443/', 'ags.example.com', 'https://ags.example.com:8443'],
    ['https://AGS.example.com', 'ags.example.com', 'https://ags.example.com'],
    ['https://localhost', 'localhost', 'https://localhost'],
    // In development every name of the loopback address is the same site, and one of them has passkeys.
    ['http://localhost:8080', 'localhost', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'localhost', 'http://localhost:8080'],
    ['http://[::1]:8080', 'localhost', 'http://localhost:8080'],
    ['http://127.0.0.1', 'localhost', 'http://localhost'],
  ])('at %s is the host name', (baseUrl, id, origin) => {
    expect(new Site(baseUrl).relyingParty).toEqual({ id, origin });
  });

  it.each([
    'https://192.0.2.7',
    'https://127.0.0.1',
    'https://[2001:db8::1]',
    'http://192.0.2.7:8080',
    'http://ags.lan',
  ])('at %s is nothing: browsers have none there', (baseUrl) => expect(new Site(baseUrl).relyingParty).toBe(null));

  it('follows the address at which the service turned out to listen', () => {
    const site = new Site('http://127.0.0.1:0');
    site.isServedAt('http://127.0.0.1:4711');
    expect(site.relyingParty).toEqual({ id: 'localhost', origin: 'http://localhost:4711' });
  });
});
