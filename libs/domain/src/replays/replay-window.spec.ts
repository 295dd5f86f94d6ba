import { describe, expect, it } from 'vitest';
import { DomainError } from '../kernel/index.js';
import { thrown } from '../../../../test/support/thrown.js';
import { replayWindow } from './replay-window.js';

const NOW = '2026-10-15T12:00:00.000Z';

describe('the window of a replay', () => {
  it('is the 14 days up to now unless something else is said', () =>
    expect(replayWindow({}, NOW)).toEqual({ from: '2026-10-01T12:00:00.000Z', to: NOW }));

  it('is the 14 days before its end where only that is said', () =>
    expect(replayWindow({ to: '2026-10-08T00:00:00.000Z' }, NOW)).toEqual({
      from: '2026-09-24T00:00:00.000Z',
      to: '2026-10-08T00:00:00.000Z',
    }));

  it('ends now where it would end later', () =>
    expect(replayWindow({ from: '2026-10-15T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' }, NOW)).toEqual({
      from: '2026-10-15T00:00:00.000Z',
      to: NOW,
    }));

  it('may be 90 days long', () =>
    expect(replayWindow({ from: '2026-07-17T12:00:00.000Z' }, NOW)).toEqual({
      from: '2026-07-17T12:00:00.000Z',
      to: NOW,
    }));

  it.each([
    ['a millisecond longer than 90 days', { from: '2026-07-17T11:59:59.999Z' }],
    ['empty', { from: NOW }],
    ['before its begin', { from: '2026-10-02T00:00:00.000Z', to: '2026-10-01T00:00:00.000Z' }],
    ['in the future', { from: '2026-10-16T00:00:00.000Z', to: '2026-10-17T00:00:00.000Z' }],
  ])('is refused where it is %s', (_case, asked) =>
    expect(thrown(DomainError, () => replayWindow(asked, NOW))).toMatchObject({
      code: 'replay_window_invalid',
      param: 'from',
    }),
  );
});
