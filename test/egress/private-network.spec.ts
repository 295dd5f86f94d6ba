import { beforeAll, describe, expect, it } from 'vitest';

import { REFUSED } from '../../libs/infra/src/egress/testing/passage.js';
import { ADDRESSES, SPELLED, spellingsOf } from '../support/forbidden-addresses.js';
import type { ScriptedAnswer, Zone } from './name-server.js';
import { hasPrivateNetworks, inPrivateNetwork, type Told } from './private-network.js';

const IS_POSSIBLE = hasPrivateNetworks();

const GOOD = ['93.184.216.34', '2606:4700::1111'];
const manyGood = Array.from({ length: 299 }, (_, index) => `93.184.${index >> 8}.${index & 0xff}`);
const chain = (length: number) => Array.from({ length }, (_, index) => `link-${index}.chain.example`);
const steady = (...addresses: string[]): readonly ScriptedAnswer[] => [{ addresses }];
const numbered = (kind: string, answersOf: (address: string) => readonly ScriptedAnswer[]): Zone =>
  Object.fromEntries(ADDRESSES.map((address, index) => [`${kind}-${index}.forbidden.example`, answersOf(address)]));

const ALONE = numbered('alone', (address) => steady(address));
const BESIDE = numbered('beside', (address) => steady(...GOOD, address));
/** Good when a destination is checked, and another when it is dialled. */
const REBOUND = numbered('rebound', (address) => [...steady(...GOOD), ...steady(address)]);
const ALIASES: Zone = {
  'alias.names.example': [{ aliases: chain(1), addresses: ['127.0.0.1'] }],
  'alias-v6.names.example': [{ aliases: chain(4), addresses: ['93.184.216.34', '::1'] }],
  'aliases.names.example': [{ aliases: chain(100), addresses: ['10.0.0.1'] }],
  'inner-alias.names.example': [{ aliases: ['db.internal', 'localhost'], addresses: ['169.254.169.254'] }],
};
const LONG: Zone = {
  'long.names.example': steady(...manyGood, '10.0.0.1'),
  'long-v6.names.example': steady(...manyGood, 'fd00::1'),
  'long-first.names.example': steady('127.0.0.1', ...manyGood),
};
const PUBLIC: Zone = {
  'public.names.example': steady(...GOOD),
  'public-alias.names.example': [{ aliases: chain(100), addresses: GOOD }],
  'public-long.names.example': steady(...manyGood),
};
const literal = (address: string): string => (address.includes(':') ? `[${address}]` : address);
const LITERALS = ADDRESSES.map(literal);
const SPELLINGS = SPELLED.flatMap(spellingsOf);
const PUBLIC_HOSTS = [...Object.keys(PUBLIC), ...GOOD.map(literal)];
const ZONE = { ...ALONE, ...BESIDE, ...REBOUND, ...ALIASES, ...LONG, ...PUBLIC };

/** No socket connects to many machines at once, nor to a neighbour without its zone: no canary can hear of these. */
const isUnconnectable = (address: string): boolean =>
  /^(?:22[4-9]|23\d)\.|^127\.0\.0\.0$|^(?:127|255)\.255\.255\.255$|^(?:ff|fe[89ab])/.test(address);

describe.skipIf(!IS_POSSIBLE)(
  `where every address leads to a canary (${IS_POSSIBLE ? 'a network of its own' : 'unshare makes no network here'})`,
  () => {
    let told: ReadonlyMap<string, Told>;
    beforeAll(async () => {
      const hosts = [...Object.keys(ZONE), ...LITERALS, ...SPELLINGS, ...PUBLIC_HOSTS];
      told = new Map((await inPrivateNetwork({ zone: ZONE, hosts })).map((each) => [each.host, each]));
    });
    const toldOf = (hosts: readonly string[]): readonly Told[] => hosts.map((host) => told.get(host)!);
    const expectSilence = (hosts: readonly string[], changes: Partial<Told['shut']> = {}): void =>
      expect(toldOf(hosts).map(({ host, shut }) => ({ host, ...shut }))).toEqual(
        hosts.map((host) => ({ host, ...REFUSED, heard: [0, 0], ...changes })),
      );

    it('it hears of a public host, by address and by name, over a hundred aliases and in a long answer', () => {
      for (const { host, shut } of toldOf(PUBLIC_HOSTS)) {
        expect([host, shut.check, shut.heard.map((count) => count > 0)]).toEqual([host, 'passed', [true, true]]);
      }
    });

    it('it would hear of whoever a socket can be connected to, if the address were listed', () => {
      const isUnheard = (host: string): boolean => told.get(host)!.open.heard[0] === 0;
      const connectable = (hosts: readonly string[]) => hosts.filter((_, at) => !isUnconnectable(ADDRESSES[at]!));
      const forbidden = [LITERALS, Object.keys(ALONE), Object.keys(REBOUND)].flatMap(connectable);
      const others = [BESIDE, ALIASES, LONG].flatMap(Object.keys);
      expect([...forbidden, ...SPELLINGS, ...others].filter(isUnheard)).toEqual([]);
      expect(forbidden.length).toBeGreaterThan(3 * 120);
    });

    it('it hears of no forbidden literal, however it is written (rules EGRESS-2 and EGRESS-4)', () => {
      expectSilence([...LITERALS, ...SPELLINGS]);
    });

    it('it hears of no name that leads there, alone or beside public addresses (rule EGRESS-1)', () => {
      expectSilence([...Object.keys(ALONE), ...Object.keys(BESIDE)]);
    });

    it('it hears of no name that leads there by the time it is dialled (rule EGRESS-1)', () => {
      expectSilence(Object.keys(REBOUND), { check: 'passed' });
    });

    it('it hears of no name that leads there over others (rule EGRESS-1)', () => {
      expectSilence(Object.keys(ALIASES));
    });

    it('it hears of no name whose answer of more than 4 KB leads there at one place (rule EGRESS-1)', () => {
      expectSilence(Object.keys(LONG));
      expect(toldOf(Object.keys(LONG)).map(({ isLong }) => isLong)).toEqual([true, true, true]);
    });
  },
);
