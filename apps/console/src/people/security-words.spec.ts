import { expect, it } from 'vitest';
import { eventInWords, typesOf } from './security-words.ts';

const nothing = { via: null, why: null, key: null };
const key = { id: 'key_1', prefix: null, successor: null, agent: null };

it('says what somebody did', () => {
  expect([
    eventInWords({ ...nothing, type: 'user.signed_in', via: 'code' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'user.signed_out', why: 'everywhere' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'user.signed_out' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'member.address_set' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'admin_key.created', key: { ...key, prefix: 'svc_live_abcd' } }, ''),
    eventInWords({ ...nothing, type: 'agent_key.revoked', key }, ''),
  ]).toEqual([
    'signed in with a mail code',
    'signed out everywhere',
    'signed out',
    'changed the address of ada@example.com',
    'issued an admin key; the new key begins with svc_live_abcd',
    'revoked a key of an agent',
  ]);
});

it('knows which types a filter asks for, and leaves to the service what it does not know', () => {
  expect(typesOf(null)).toBeNull();
  expect(typesOf('addresses,sign-ins')).toEqual([
    'member.address_set',
    'user.signed_in',
    'user.signed_out',
    'login_link.issued',
  ]);
  expect(typesOf('moon')).toEqual(['moon']);
});
