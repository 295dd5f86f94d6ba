import { expect, it } from 'vitest';
import { hostNameFault } from './host-labels.js';

const label = (length: number) => 'a'.repeat(length);

it('accepts names whose labels have at most 63 characters, and addresses', () => {
  const hosts = ['example.com', `${label(63)}.example.com`, 'example.com.', '192.0.2.1', '[2001:db8::1]', 'localhost'];
  for (const host of hosts) expect([host, hostNameFault(`https://${host}:8443/v1`)]).toEqual([host, null]);
});

it('refuses a long label, as it is written or in its ASCII form, a long name and an empty label', () => {
  expect(hostNameFault(`https://${label(64)}.example.com`)).toContain('63 characters');
  expect(hostNameFault(`https://${'ü'.repeat(60)}.example.com/`)).toContain('63 characters');
  expect(hostNameFault(`https://${`${label(50)}.`.repeat(5)}com`)).toContain('253 characters');
  expect(hostNameFault('https://api..example.com')).toContain('nothing between two dots');
});
