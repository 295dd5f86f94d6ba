import { describe, expect, it } from 'vitest';

import { afterDeed, keyFault, linkFault, nextIssuedAt, revokedKid, startOfChain } from './deed-chain.js';
import { digestOf } from './digest.js';
import { at, bodyAfter, entryOf, KEY, keyFrom, ORG, OTHER_ORG } from './testing/given-chain.js';

const { kid } = KEY.publicKey;
const first = bodyAfter(startOfChain(ORG), kid);
const position = afterDeed(first, digestOf('first'));
const second = bodyAfter(position, kid);

describe('a deed continues a chain', () => {
  it('when it is the first, or links to the last', () => {
    expect(linkFault(startOfChain(ORG), first)).toBeNull();
    expect(linkFault(position, second)).toBeNull();
  });

  it('at the very instant of the deed before', () => {
    expect(linkFault(position, { ...second, issued_at: first.issued_at })).toBeNull();
  });

  it.each([
    ['of another organization', { ...second, org: OTHER_ORG }, 'wrong_org'],
    ['that leaves one out', { ...second, seq: 3 }, 'gap'],
    ['that is there already', { ...second, seq: 1 }, 'duplicate'],
    ['that links to another deed', { ...second, chain: { ...second.chain, prev_hash: digestOf('x') } }, 'broken_link'],
    ['issued before the deed before', { ...second, issued_at: at(0) }, 'time_went_back'],
  ])('but not one %s', (_name, body, fault) => {
    expect(linkFault(position, body)).toBe(fault);
  });
});

describe('a key vouches for a deed: activated_at <= issued_at < retired_at, not revoked (rule DEED-3)', () => {
  const key = entryOf(KEY, { activated_at: at(10), retired_at: at(20) });

  it.each([
    [9.999, 'outside_key_window'],
    [10, null],
    [19.999, null],
    [20, 'outside_key_window'],
  ])('issued at second %f: %s', (second, fault) => {
    expect(keyFault(key, new Date(Date.parse(at(0)) + second * 1_000).toISOString())).toBe(fault);
  });

  it('never when it is retired at the instant it is activated', () => {
    expect(keyFault({ ...key, retired_at: at(10) }, at(10))).toBe('outside_key_window');
  });

  it('never when it is revoked, not even for deeds before that', () => {
    expect(keyFault({ ...key, revoked_at: at(19) }, at(15))).toBe('seal_key_revoked');
  });
});

it('the next deed is never issued before the last (rule DEED-4)', () => {
  const last = { ...position, issuedAt: at(5) };
  expect(nextIssuedAt(last, at(4))).toBe(at(5));
  expect(nextIssuedAt(last, at(6))).toBe(at(6));
  expect(nextIssuedAt(startOfChain(ORG), at(0))).toBe(at(0));
});

it('the chain itself says which keys were revoked', () => {
  const old = keyFrom('old').publicKey.kid;
  const change = { action: 'seal_key.revoked', target: { type: 'seal_key', id: old }, reason: null, data_digest: null };
  const third = bodyAfter({ ...position, seq: 2 }, kid, { admin: change });
  expect(revokedKid(third)).toBe(old);
  expect(revokedKid(first)).toBeNull();
});
