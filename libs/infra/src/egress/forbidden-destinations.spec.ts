import { describe, expect, it } from 'vitest';

import {
  ADDRESSES,
  insideV6,
  METADATA_V4,
  SPELLED,
  spellingsOf,
} from '../../../../test/support/forbidden-addresses.js';
import type { EgressSettings } from './destination-rules.js';
import { addressesHere, innerAddresses, leadsHere } from './testing/canary.js';
import { givenCanary, noResolver, PRODUCTION } from './testing/given-canary.js';
import { cleanUpAfterEach, doorOf } from './testing/given-door.js';

cleanUpAfterEach();
const canary = givenCanary();

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
const originAt = (host: string, port: number, scheme = 'http'): string =>
  new URL(`${scheme}://${bracketed(host)}:${port}`).origin;
/** At the one port of production, so that the address alone is wrong. */
const standardOrigin = (host: string): string => `https://${new URL(`https://${bracketed(host)}`).hostname}`;

/** More ways to write an address, and words that come close to one. */
const WRITTEN = [
  ...['2130706433', '0x7f000001', '0x7f.1', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.1', '127.0.1', '0'],
  ...['127.0.0.1.', '0x7F.0x0.0x0.0x1', '127.000.000.001', '%31%32%37.0.0.1', '0.0.0.0', '[::]', '[::1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  ...['[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:ffff:127.0.0.1]', '[::FFFF:7F00:0001]'],
  ...['１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  ...['2852039166', '0xa9fea9fe', '[fd00:ec2::254]', '167772161'],
];
const LITERALS = [...ADDRESSES, ...SPELLED.flatMap(spellingsOf), ...WRITTEN];
const HERE = LITERALS.filter(leadsHere);
const ELSEWHERE = LITERALS.filter((host) => !leadsHere(host));

/** Production, and production with an operator's list that opens something else. */
const PRODUCTIONS: readonly (readonly [string, Partial<EgressSettings>])[] = [
  ['production', PRODUCTION],
  [
    'production with an allow-list',
    { ...PRODUCTION, allow: ['crm.corp', '*.partner.example', '10.77.0.0/16', '[fd00:77::1]:8443'] },
  ],
];

describe('the canary', () => {
  it('hears whoever is let through', async () => {
    const door = doorOf({ allowPrivate: true }, () => Promise.resolve(['127.0.0.1']));
    for (const host of ['canary.example', '127.0.0.1', '::1']) {
      const { request, heard } = await canary.passage(door, originAt(host, canary.port));
      expect([host, request, heard[0]]).toEqual([host, 'answered', 1]);
      expect(heard[1]).toBeGreaterThan(0);
    }
  });

  it.each(addressesHere())(
    'hears a door of production that lists %s, so that its silence is the rule',
    async (host) => {
      const door = doorOf({ ...PRODUCTION, allow: [`${bracketed(host)}:443`] }, noResolver);
      const passed = await canary.passage(door, standardOrigin(host));
      expect([passed.check, passed.dialled.length, passed.heard[0]]).toEqual(['passed', 1, 1]);
    },
  );
});

describe.each(PRODUCTIONS)('in %s no forbidden address hears a byte', (_title, settings) => {
  it('as a literal that leads to this machine, however it is written (rule EGRESS-2)', async () => {
    const door = doorOf(settings, noResolver);
    for (const host of HERE) await canary.expectUnheard(door, standardOrigin(host));
    expect(HERE.length).toBeGreaterThan(70);
  });

  it('as a literal that leads to another, however it is written (rules EGRESS-2 and EGRESS-4)', async () => {
    const door = doorOf(settings, noResolver);
    for (const host of ELSEWHERE) await canary.expectUndialled(door, standardOrigin(host));
    expect(ELSEWHERE.length).toBeGreaterThan(200);
  });

  it('by a name that resolves there: alone, first, last, and as the one bad answer of fifty (rule EGRESS-1)', async () => {
    const good = (count: number) =>
      Array.from({ length: count }, (_, index) => (index % 2 ? '2606:4700::1111' : '93.184.216.34'));
    for (const bad of ADDRESSES) {
      for (const answers of [[bad], [bad, ...good(1)], [...good(1), bad], [...good(25), bad, ...good(24)]]) {
        const door = doorOf(settings, () => Promise.resolve(answers));
        if (leadsHere(bad)) await canary.expectUnheard(door, 'https://api.example.com');
        else await canary.expectUndialled(door, 'https://api.example.com');
      }
    }
  });

  it('by a name that only networks inside know, whatever it resolves to (rule EGRESS-3)', async () => {
    const door = doorOf(settings, () => Promise.resolve(['93.184.216.34']));
    const names =
      'localhost localhost. a.localhost metadata.google.internal x.internal printer.local db.svc redis host.docker.internal';
    for (const name of names.split(' ')) await canary.expectUndialled(door, originAt(name, 443, 'https'));
  });

  it('at the addresses inside that this machine has, by literal and by name', async () => {
    const own = innerAddresses();
    for (const address of own) {
      await canary.expectUnheard(doorOf(settings, noResolver), standardOrigin(address));
      await canary.expectUnheard(
        doorOf(settings, () => Promise.resolve([address])),
        'https://api.example.com',
      );
    }
    expect(own.length).toBeGreaterThan(0);
  });
});

describe('in development with an allow-list', () => {
  const settings = { allowPrivate: true, allowPlainText: true, allow: ['crm.corp', '10.77.0.0/16'] };
  const PRIVATE = /^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./;
  /** Loopback and what is private is open there; all else stays shut, also where it stands inside an IPv6 address. */
  const isShut = (address: string): boolean => {
    const v4 = address.replace(/^::ffff:(?=[\d.]+$)/, '');
    return (
      !PRIVATE.test(v4) &&
      !/^(?:::1$|f[cd](?!00:ec2:|20:ce:))/.test(address) &&
      !/^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(address)
    );
  };
  const shut = ADDRESSES.filter(isShut);

  it('what is neither public nor private stays shut: by literal', async () => {
    const door = doorOf(settings, noResolver);
    for (const host of shut) {
      if (leadsHere(host)) await canary.expectUnheard(door, originAt(host, canary.port));
      else await canary.expectUndialled(door, originAt(host, canary.port));
    }
    expect(shut.length).toBeGreaterThan(90);
    expect(shut.filter(leadsHere).length).toBeGreaterThan(2);
  });

  it('and by a name, also beside an address that is open', async () => {
    for (const host of shut) {
      const door = doorOf(settings, () => Promise.resolve(['127.0.0.1', host]));
      await canary.expectUnheard(door, originAt('api.example.com', canary.port));
    }
  });

  it('"any address" stays shut however it is written', async () => {
    const door = doorOf(settings, noResolver);
    const forms = [...spellingsOf('0.0.0.0'), '::', '::ffff:0.0.0.0', '::ffff:0:0', '0:0:0:0:0:0:0:0'];
    for (const host of forms) await canary.expectUnheard(door, originAt(host, canary.port));
  });

  it('metadata stays shut however it is written, and inside an IPv6 address', async () => {
    const door = doorOf(settings, noResolver);
    const forms = METADATA_V4.split(' ').flatMap((address) => [...spellingsOf(address), ...insideV6(address)]);
    for (const host of forms) await canary.expectUndialled(door, originAt(host, canary.port));
  });
});
