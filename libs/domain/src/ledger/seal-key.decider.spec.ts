import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { SEAL_KEY_OVERLAP_MAX_MS, SEAL_KEY_OVERLAP_MIN_MS, nextSeal, sealKeyDecider } from './seal-key.decider.js';
import type { SealKeyEvent } from './seal-key.events.js';

const given = givenFor(sealKeyDecider);
const registered = (kid: string): SealKeyEvent => ({
  type: 'SealKeyRegistered',
  data: { kid, public_key: `ed25519:${kid}`, at: NOW },
});
const proven = (kid: string, at = NOW): SealKeyEvent => ({ type: 'SealKeyProven', data: { kid, signature: 's', at } });
const activated = (kid: string, at = NOW): SealKeyEvent => ({
  type: 'SealKeyActivated',
  data: { kid, activated_at: at, at },
});
const retired = (kid: string, at: string): SealKeyEvent => ({
  type: 'SealKeyRetired',
  data: { kid, retired_at: at, at: NOW },
});
const revoked = (kid: string): SealKeyEvent => ({
  type: 'SealKeyRevoked',
  data: { kid, revoked_at: NOW, reason: null, at: NOW },
});
const old = [registered('old'), proven('old'), activated('old')];
const fresh = [registered('new'), proven('new')];
const activate = (overlapMs = SEAL_KEY_OVERLAP_MIN_MS, sealedUntil: string | null = null) =>
  ({ type: 'ActivateSealKey', data: { kid: 'new', overlapMs, sealedUntil } }) as const;

describe('a seal key', () => {
  it('is registered once', () => {
    const data = { kid: 'new', publicKey: 'ed25519:new' };
    given().when({ type: 'RegisterSealKey', data }).then(registered('new'));
    given(registered('new')).when({ type: 'RegisterSealKey', data }).thenRefuses('conflict');
  });

  it('is activated only after a sealer signed with it', () => {
    given(registered('new')).when(activate()).thenRefuses('conflict');
    given(...fresh)
      .when(activate())
      .then(activated('new'));
  });

  it('retires the others after the overlap', () =>
    given(...old, ...fresh)
      .when(activate(3_600_000))
      .then(activated('new'), retired('old', after(3_600_000))));

  it.each([
    ['the clock of the last deed', proven('new'), after(-1_000), after(600_000), 600_000],
    ['the clock of the sealer', proven('new', after(600_000)), after(-1_000), null, 600_000],
    ['the activation of the old key', proven('new'), after(-600_000), null, 0],
    ['no clock but its own', proven('new'), NOW, after(-600_000), 0],
  ])('retires the others an overlap after whatever is latest: behind %s', (_, proof, now, sealedUntil, latestMs) =>
    given(...old, registered('new'), proof)
      .when(activate(60_000, sealedUntil), now)
      .then(
        { type: 'SealKeyActivated', data: { kid: 'new', activated_at: now, at: now } },
        { type: 'SealKeyRetired', data: { kid: 'old', retired_at: after(latestMs + 60_000), at: now } },
      ),
  );

  it.each([SEAL_KEY_OVERLAP_MIN_MS, SEAL_KEY_OVERLAP_MAX_MS])('may overlap the previous key for %d ms', (overlapMs) =>
    given(...old, ...fresh)
      .when(activate(overlapMs))
      .then(activated('new'), retired('old', after(overlapMs))),
  );

  it.each([0, 5_000, SEAL_KEY_OVERLAP_MIN_MS - 1, SEAL_KEY_OVERLAP_MAX_MS + 1, Number.NaN])(
    'an overlap of %d ms is refused: a retirement takes effect at least a minute after its commit',
    (overlapMs) =>
      given(...old, ...fresh)
        .when(activate(overlapMs))
        .thenRefuses('validation_failed', 'overlap'),
  );

  it('that was revoked is never activated', () =>
    given(...fresh, revoked('new'))
      .when(activate())
      .thenRefuses('conflict'));

  it('is revoked once; an unknown key is not found', () => {
    const revoke = { type: 'RevokeSealKey', data: { kid: 'old', reason: null } } as const;
    given(...old)
      .when(revoke)
      .then(revoked('old'));
    given(...old, revoked('old'))
      .when(revoke)
      .thenNothing();
    given().when(revoke).thenRefuses('not_found');
  });
});

describe('the key that seals', () => {
  const rotated = [...old, ...fresh, activated('new', after(1_000)), retired('old', after(61_000))];
  const sealAt = (ms: number, ...events: readonly SealKeyEvent[]) => {
    const seal = nextSeal(given(...events).state, after(ms));
    return seal && { kid: seal.key.kid, issuedAt: seal.issuedAt };
  };
  const kidAt = (ms: number, ...events: readonly SealKeyEvent[]) => sealAt(ms, ...events)?.kid;

  it('is the newest key whose window includes the time: activated_at <= issued_at < retired_at', () => {
    expect(kidAt(999, ...rotated)).toBe('old');
    expect(kidAt(1_000, ...rotated)).toBe('new');
    expect(kidAt(60_999, ...old, retired('old', after(61_000)))).toBe('old');
    expect(kidAt(61_000, ...old, retired('old', after(61_000)))).toBeUndefined();
  });

  it('is never a revoked key: the old key seals again while its overlap lasts', () => {
    expect(kidAt(2_000, ...rotated, revoked('new'))).toBe('old');
    expect(kidAt(2_000, ...old, revoked('old'))).toBeUndefined();
  });

  it('dates the deed at its activation if the clock was set back to before that (rule DEED-4)', () => {
    expect(sealAt(-600_000, ...rotated)).toEqual({ kid: 'old', issuedAt: NOW });
    expect(sealAt(-600_000, ...rotated, revoked('old'))).toEqual({ kid: 'new', issuedAt: after(1_000) });
    expect(sealAt(500, ...rotated, revoked('old'))).toEqual({ kid: 'new', issuedAt: after(1_000) });
    expect(sealAt(-600_000, ...old, revoked('old'))).toBeNull();
  });
});
