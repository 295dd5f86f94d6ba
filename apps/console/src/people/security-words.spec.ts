import { expect, it } from 'vitest';
import { eventInWords, typesOf } from './security-words.ts';

const nothing = { via: null, why: null, key: null, export: null };
const range = { kind: 'deeds', from: null, to: null, first_seq: 1, last_seq: 50 } as const;
const key = { id: 'key_1', prefix: null, successor: null, agent: null };

it('puts events into words', () => {
  expect([
    eventInWords({ ...nothing, type: 'user.signed_in', via: 'code' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'user.signed_out', why: 'everywhere' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'user.signed_out' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'user.sign_in_failed', why: 'code_used_up' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'member.address_set' }, 'ada@example.com'),
    eventInWords({ ...nothing, type: 'admin_key.created', key: { ...key, prefix: 'svc_live_abcd' } }, ''),
    eventInWords({ ...nothing, type: 'agent_key.revoked', key }, ''),
    eventInWords({ ...nothing, type: 'export.started', export: range }, ''),
    eventInWords({ ...nothing, type: 'export.started', export: { ...range, first_seq: null, last_seq: null } }, ''),
  ]).toEqual([
    'signed in with a mail code',
    'signed out everywhere',
    'signed out',
    'sign-in failed: a code is used up by wrong tries',
    'changed the address of ada@example.com',
    'issued an admin key; the new key begins with svc_live_abcd',
    'revoked a key of an agent',
    'exported the deeds #1 to #50',
    'exported a bundle without deeds',
  ]);
});

it('gives the types of a filter, and passes unknown words on to the service', () => {
  expect(typesOf(null)).toBeNull();
  expect(typesOf('addresses,sign-ins')).toEqual([
    'member.address_set',
    'user.signed_in',
    'user.signed_out',
    'login_link.issued',
  ]);
  expect(typesOf('moon')).toEqual(['moon']);
});
