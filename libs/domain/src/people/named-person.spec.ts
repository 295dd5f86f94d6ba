import { describe, expect, it } from 'vitest';
import type { MembershipId, UserId } from '../kernel/index.js';
import { addressesIn, isNamedBy } from './named-person.js';

const USER = 'usr_01j9z3k4m5n6p7q8r9s0t1v2w3' as UserId;
const MEMBERSHIP = 'mem_01j9z3k4m5n6p7q8r9s0t1v2w4' as MembershipId;
const member = { user: USER, membership: MEMBERSHIP, references: ['u-1', 'anna@crm'] };

describe('a member is named', () => {
  it.each([
    USER,
    USER.toUpperCase(),
    `user:${USER}`,
    `USER:${USER.toUpperCase()}`,
    `urn:ags:user:${USER}`,
    `https://ags.example.com/users/${USER}`,
    `id=${USER}`,
    MEMBERSHIP,
    `member:${MEMBERSHIP.toUpperCase()}`,
    'u-1',
    'U-1',
    'user:u-1',
    'mailto:Anna@CRM',
    'u-1/',
    'u-1:',
    'user:u-1/session=7',
    'anna@crm/x',
    'id=u-12/u-1',
  ])('by %s', (reference) => expect(isNamedBy(member, reference)).toBe(true));

  it.each([`${USER}x`, `x${USER}`, USER.slice(0, -1), 'u-12', 'au-1', 'anna@crm.example', 'usr_', ':'])(
    'not by %s',
    (reference) => expect(isNamedBy(member, reference)).toBe(false),
  );
});

describe('an address stands in', () => {
  it.each([
    'anna@example.com',
    'Anna@Example.COM',
    'anna@example.com.',
    'mailto:ANNA@example.com',
    'MAILTO:anna@example.com',
    'acct:anna@example.com',
    'user:anna@example.com/session=7',
    'https://crm.example/users/anna@example.com',
    'email=anna@example.com',
    'id:bo@crm@anna@example.com:1',
  ])('%s', (reference) => expect(addressesIn(reference).map(({ normal }) => normal)).toContain('anna@example.com'));

  it('that is international, by its ASCII form in any case', () => {
    expect(addressesIn('anna@XN--BCHER-KVA.example').map(({ normal }) => normal)).toEqual([
      'anna@xn--bcher-kva.example',
    ]);
  });

  it.each(['u-1', 'anna', 'anna@', '@example.com', 'anna@crm', USER])('%s: none', (reference) => {
    expect(addressesIn(reference)).toEqual([]);
  });

  it('another than the one of who has a tag or a dot more', () => {
    expect(addressesIn('an.na+crm@example.com').map(({ normal }) => normal)).toEqual(['an.na+crm@example.com']);
  });
});
