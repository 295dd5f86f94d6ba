import { expect, it } from 'vitest';
import { KEY_TOUCH_MS, type KeyDirectory, type KeyHolder } from '#libs/domain/agents';
import { TEST_ORG, testId } from '../support/given-log.js';
import { contractOnRows, type RowsUnderTest } from './rows-under-test.js';

const AGENT: KeyHolder = { kind: 'agent', org: TEST_ORG, agent: testId('agt', 1) };
const OTHER_AGENT: KeyHolder = { kind: 'agent', org: TEST_ORG, agent: testId('agt', 2) };
const ORG: KeyHolder = { kind: 'org', org: TEST_ORG };

const NOW_MS = Date.UTC(2026, 9, 1, 12);

/** The contract that every adapter of the port keeps (libs/domain/src/agents/api-key.ts). */
export const keyDirectoryContract = (adapter: string, start: () => Promise<RowsUnderTest<KeyDirectory>>): void => {
  contractOnRows(`key directory contract: ${adapter}`, start, (directory) => {
    const usesIn = async (port: KeyDirectory, ...prefixes: readonly string[]) => [...(await port.lastUses(prefixes))];

    it('finds the holder that claimed a prefix, in every process', async () => {
      expect(await directory.other.find('abcdefgh')).toBeNull();
      expect(await directory.one.claim('abcdefgh', AGENT)).toBe(true);
      expect(await directory.one.claim('bcdefghj', ORG)).toBe(true);
      for (const port of [directory.one, directory.other]) {
        expect([await port.find('abcdefgh'), await port.find('bcdefghj')]).toEqual([AGENT, ORG]);
        expect(await port.find('cdefghjk')).toBeNull();
      }
    });

    it.each([
      ['another holder', OTHER_AGENT],
      ['the organization of its holder', ORG],
      ['its holder, who needs another prefix for another key', AGENT],
    ])('gives a prefix that is taken to nobody: not to %s', async (_, holder) => {
      await directory.one.claim('abcdefgh', AGENT);
      expect(await directory.other.claim('abcdefgh', holder)).toBe(false);
      expect(await directory.other.find('abcdefgh')).toEqual(AGENT);
    });

    it('gives a prefix to one of many that claim it at once', async () => {
      const holders = Array.from({ length: 16 }, (_, index): KeyHolder => ({ ...AGENT, agent: testId('agt', index) }));
      const claimed = await Promise.all(
        holders.map((holder, index) => (index % 2 === 0 ? directory.one : directory.other).claim('abcdefgh', holder)),
      );
      expect(claimed.filter(Boolean)).toHaveLength(1);
      expect(await directory.one.find('abcdefgh')).toEqual(holders[claimed.indexOf(true)]);
    });

    it('says when each of the prefixes was last used, and nothing of one that never was', async () => {
      for (const prefix of ['abcdefgh', 'bcdefghj', 'cdefghjk']) await directory.one.claim(prefix, AGENT);
      directory.one.noteUse('abcdefgh', NOW_MS);
      directory.one.noteUse('bcdefghj', NOW_MS + 1);
      expect(await usesIn(directory.one, 'abcdefgh', 'cdefghjk')).toEqual([['abcdefgh', NOW_MS]]);
      expect(await usesIn(directory.one)).toEqual([]);
      expect(await usesIn(directory.other, 'bcdefghj')).toEqual([['bcdefghj', NOW_MS + 1]]);
    });

    it('notes no use of a prefix that nobody claimed', async () => {
      directory.one.noteUse('abcdefgh', NOW_MS);
      expect(await usesIn(directory.one, 'abcdefgh')).toEqual([]);
    });

    it('lets a process write the use of a key once in a while, and not at each use', async () => {
      await directory.one.claim('abcdefgh', AGENT);
      const seen = [];
      for (const afterMs of [0, 1, KEY_TOUCH_MS - 1, KEY_TOUCH_MS, KEY_TOUCH_MS + 1]) {
        directory.one.noteUse('abcdefgh', NOW_MS + afterMs);
        seen.push((await directory.one.lastUses(['abcdefgh'])).get('abcdefgh'));
      }
      expect(seen.map((ms) => (ms ?? 0) - NOW_MS)).toEqual([0, 0, 0, KEY_TOUCH_MS, KEY_TOUCH_MS]);
    });

    it('keeps the latest use of all processes', async () => {
      await directory.one.claim('abcdefgh', AGENT);
      directory.one.noteUse('abcdefgh', NOW_MS + 1_000);
      await directory.one.lastUses(['abcdefgh']);
      directory.other.noteUse('abcdefgh', NOW_MS);
      expect(await usesIn(directory.other, 'abcdefgh')).toEqual([['abcdefgh', NOW_MS + 1_000]]);
    });
  });
};
