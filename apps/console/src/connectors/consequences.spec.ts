import { describe, expect, it } from 'vitest';
import { consequencesOf } from './consequences.ts';

const config = {
  base_url: 'https://a.example',
  auth: { kind: 'bearer' },
  tools: [{ name: 'get' }, { name: 'put' }],
};
const stored = { name: 'crm', config, credential: { kind: 'bearer' } };

describe('the consequences of a change of a config', () => {
  it.each([
    ['none, for a member without any', { ...config, timeout_ms: 5 }, []],
    [
      'its credential goes to another address',
      { ...config, base_url: 'https://b.example' },
      [/is sent to the new address/],
    ],
    [
      'another kind of credential is needed',
      { ...config, auth: { kind: 'basic' } },
      [/until a credential of the new kind/],
    ],
    ['no credential is needed', { ...config, auth: { kind: 'none' } }, []],
    ['tools are gone', { ...config, tools: [{ name: 'get' }] }, [/^Calls of crm\.put are denied/]],
    ['the config is empty', {}, [/new address/, /Calls of crm\.get, crm\.put/]],
  ])('%s', (_, next, said) =>
    expect(consequencesOf(stored, next)).toEqual(said.map((text) => expect.stringMatching(text) as string)),
  );

  it('are the same for the address of a server', () => {
    const server = { ...stored, config: { url: 'https://a.example/mcp', auth: { kind: 'bearer' } } };
    expect(consequencesOf(server, { ...server.config, url: 'https://b.example/mcp' })).toEqual([
      expect.stringMatching(/is sent to the new address/) as string,
    ]);
  });

  it('are the same for another host or port of a database', () => {
    const database = { ...stored, config: { host: 'a.example', port: 5432, auth: { kind: 'database' } } };
    expect(consequencesOf(database, { ...database.config, port: 5433 })).toEqual([
      expect.stringMatching(/is sent to the new address/) as string,
    ]);
  });

  it.each([
    [true, [/^Writes fail until the witness is set up/]],
    [false, []],
  ])('tell what a witness that is on or off from then on does: %s', (enabled, said) => {
    const off = { ...stored, config: { host: 'a.example', witness: { enabled: false } } };
    const next = { host: 'a.example', witness: { enabled } };
    const expected = said.map((text) => expect.stringMatching(text) as string);
    expect(consequencesOf(off, { ...next, auth: { kind: 'none' } })).toEqual(expected);
    const back = consequencesOf({ ...off, config: next }, off.config);
    expect(back).toEqual(enabled ? [expect.stringMatching(/^Writes are not verified any more/)] : []);
  });

  it('are none for a new address if no credential is stored', () =>
    expect(consequencesOf({ ...stored, credential: null }, { ...config, base_url: 'https://b.example' })).toEqual([]));
});
