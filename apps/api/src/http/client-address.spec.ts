import { describe, expect, it } from 'vitest';
import { clientAddress, trustOf } from './client-address.js';

describe('clientAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['203.0.113.7:50123', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:CB00:7107', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:8080', 'fe80::1'],
    ['unknown', 'unknown'],
    ['1.2', '1.2'],
    ['', ''],
  ])('of %j is %j', (text, address) => expect(clientAddress(text)).toBe(address));
});

describe('a client that has reset its connection', () => {
  it('has no address, and is no proxy', () => {
    expect(clientAddress(undefined)).toBe('');
    expect(trustOf(['::/0'])(undefined)).toBe(false);
  });
});

describe('trustOf', () => {
  it.each([
    [['10.0.0.1'], ['10.0.0.1', '10.0.0.1:8080', '::ffff:10.0.0.1', '[::ffff:a00:1]:443'], ['10.0.0.2', '::a00:1']],
    [['10.0.0.0/8'], ['10.255.0.1', '::ffff:10.1.1.1'], ['11.0.0.1', 'unknown']],
    [
      ['fd00::/8', '::1'],
      ['fd00::1', 'FD12::1%eth0', '[fd00::1]:443', '::1'],
      ['fe00::1', '0.0.0.1', ''],
    ],
    [['::ffff:10.0.0.1'], ['10.0.0.1'], ['10.0.0.2']],
    [['::/0'], ['10.0.0.1', '2001:db8::1'], ['unknown']],
  ])('%j', (proxies, trusted, others) => {
    const isTrusted = trustOf(proxies);
    expect(trusted.map((address) => [address, isTrusted(address)])).toEqual(trusted.map((each) => [each, true]));
    expect(others.map((address) => [address, isTrusted(address)])).toEqual(others.map((each) => [each, false]));
  });
});
