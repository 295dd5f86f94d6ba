import { describe, expect, it } from 'vitest';
import { passkeyNotes, passkeyPlaceOf } from './passkey-words.ts';

describe('where passkeys work', () => {
  it.each(['https://ags.example.com/app/settings/sessions', 'http://localhost:8080/app'])('%s', (page) => {
    expect(passkeyPlaceOf(page, true)).toEqual({ is: 'usable' });
    expect(passkeyPlaceOf(page, false)).toEqual({ is: 'unsupported' });
  });

  it.each([
    ['http://127.0.0.1:8080/app/settings/sessions', '127.0.0.1', 'http://localhost:8080/app/settings/sessions'],
    ['http://[::1]:8080/app', '[::1]', 'http://localhost:8080/app'],
    ['http://192.0.2.7:8080/app', '192.0.2.7', null],
    ['https://127.0.0.1/app', '127.0.0.1', null],
    ['https://[2001:db8::1]/app', '[2001:db8::1]', null],
  ])('not at %s: it says so and leads on, if that leads anywhere', (page, host, elsewhere) => {
    expect(passkeyPlaceOf(page, true)).toEqual({ is: 'address', host, elsewhere });
  });
});

describe('what to know of a passkey', () => {
  const plain = { discoverable: true, rp_id: 'localhost', counter_fell_at: null };

  it('is nothing, if it works here', () => {
    expect(passkeyNotes(plain, 'localhost')).toEqual([]);
    expect(passkeyNotes({ ...plain, discoverable: null }, 'localhost')).toEqual([]);
  });

  it('is that it may have been copied, then where it works, then that it is not offered', () => {
    const at = '2026-10-01T12:00:00.000Z';
    const notes = passkeyNotes({ discoverable: false, rp_id: 'old.example.com', counter_fell_at: at }, 'localhost');
    expect(notes).toEqual([
      expect.stringContaining('as a copy would'),
      'It works at old.example.com, not here.',
      'Its device does not offer it at a sign-in.',
    ]);
  });
});
