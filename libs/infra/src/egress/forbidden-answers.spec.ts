import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import type { EgressSettings } from './destination-rules.js';
import { EgressDoor } from './egress-door.js';
import { addressesHere, leadsHere } from './testing/canary.js';
import { givenCanary, PRODUCTION } from './testing/given-canary.js';
import { cleanUpAfterEach, cleanups, doorOf } from './testing/given-door.js';

cleanUpAfterEach();
const canary = givenCanary();

const NAME = 'api.example.com';
/** An operator has opened the name at the very port where the canary listens: what stays shut there, its address shuts. */
const listed = (name = NAME): Partial<EgressSettings> => ({ ...PRODUCTION, allow: [`${name}:${canary.port}`] });
const listedOrigin = (name = NAME): string => `https://${name}:${canary.port}`;

const GOOD = ['93.184.216.34', '2606:4700::1111'];
const good = (count: number): string[] => Array.from({ length: count }, (_, index) => GOOD[index % 2]!);
describe('a name that the allow-list opens at the port of a canary', () => {
  it('does not lead to this machine, be it the only answer, the first or the last', async () => {
    for (const bad of addressesHere()) {
      for (const answers of [[bad], [bad, ...GOOD], [...GOOD, bad]]) {
        await canary.expectUnheard(
          doorOf(listed(), () => Promise.resolve(answers)),
          listedOrigin(),
        );
      }
    }
    expect(addressesHere().length).toBeGreaterThan(5);
  });

  it('leads there where the address itself is listed', async () => {
    const settings = { ...listed(), allow: [`127.0.0.1:${canary.port}`] };
    const door = doorOf(settings, () => Promise.resolve(['127.0.0.1']));
    expect(await canary.passage(door, listedOrigin())).toMatchObject({
      check: 'passed',
      heard: [1, expect.any(Number)],
    });
  });
});

describe('a name is judged by every answer at every dial (rule EGRESS-1)', () => {
  it.each([
    ['at the standard port', () => PRODUCTION, () => `https://${NAME}`],
    ['where the allow-list opens its port', listed, listedOrigin],
  ])('200 rebinding scripts, %s', async (_title, settings, origin) => {
    const bad = addressesHere();
    for (let script = 0; script < 200; script += 1) {
      let question = 0;
      // The check sees good answers only; the dial gets a bad one, at a place that moves.
      const door = doorOf(settings(), () => {
        question += 1;
        const answers = good(1 + (script % 50));
        if (question > 1) answers.splice(script % answers.length, 1, bad[script % bad.length]!);
        return Promise.resolve(answers);
      });
      await canary.expectUnheard(door, origin(), { check: 'passed' });
      expect([script, question]).toEqual([script, 2]);
    }
  });

  it('a dial asks once and goes where the answer that was judged leads, whatever the next would be', async () => {
    let question = 0;
    const door = doorOf(PRODUCTION, () => Promise.resolve((question += 1) <= 2 ? GOOD : ['127.0.0.1']));
    expect(await canary.passage(door, `https://${NAME}`)).toEqual({
      check: 'passed',
      request: 'unreachable',
      hasSent: false,
      dialled: GOOD.map((address) => `${address} 443`),
      heard: [0, 0],
    });
    expect(question).toBe(2);
  });

  it('what turns out to be connected elsewhere than was judged gets no byte', async () => {
    // The kernel takes it for loopback, and says so of the connection.
    const door = doorOf({ ...PRODUCTION, allow: ['0.0.0.0'] }, () => Promise.resolve(['0.0.0.0']));
    expect(await canary.passage(door, `https://${NAME}`)).toEqual({
      check: 'passed',
      request: 'blocked',
      hasSent: false,
      dialled: ['0.0.0.0 443'],
      heard: [1, 0],
    });
  });
});

describe('long answers (rule EGRESS-1)', () => {
  /** More than 4 KB on the wire: 16 bytes each, or 28. */
  const MANY = 300;
  /** Those that are dialled come first. */
  const PLACES = [0, 1, 2, 3, 4, 63, 64, 99, 100, 127, 128, 255, 256, MANY - 1];

  it.each([
    ['at the standard port', () => PRODUCTION, () => `https://${NAME}`],
    ['where the allow-list opens its port', listed, listedOrigin],
  ])('one bad address among three hundred shuts the name wherever it stands, %s', async (_title, settings, origin) => {
    for (const bad of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      for (const place of PLACES) {
        const answers = good(MANY).with(place, bad);
        await canary.expectUnheard(
          doorOf(settings(), () => Promise.resolve(answers)),
          origin(),
        );
      }
    }
  });

  it('without it the first four are tried', async () => {
    const door = doorOf(PRODUCTION, () => Promise.resolve(good(MANY)));
    const passed = await canary.passage(door, `https://${NAME}`);
    expect(passed).toMatchObject({ check: 'passed', request: 'unreachable', heard: [0, 0] });
    expect(passed.dialled).toEqual([...GOOD, ...GOOD].map((address) => `${address} 443`));
  });
});

describe('names that the operating system resolves', () => {
  const systemDoor = (settings: Partial<EgressSettings>): EgressDoor => {
    const door = new EgressDoor({
      settings: { allowPrivate: false, allowPlainText: false, allow: [], ownEndpoints: () => [], ...settings },
    });
    cleanups.push(() => {
      door.close();
    });
    return door;
  };
  /** A name of loopback itself is opened by being listed. */
  const isOfLoopback = (name: string): boolean => /(?:^|\.)localhost$/i.test(name);
  const loopbackNames = readFileSync('/etc/hosts', 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(([address = '']) => /^(?:127\.|::1$)/.test(address) && leadsHere(address))
    .flatMap(([, ...names]) => names)
    .filter((name) => !isOfLoopback(name));

  it('localhost, listed, reaches the canary', async () => {
    const passed = await canary.passage(systemDoor(listed('localhost')), listedOrigin('localhost'));
    expect(passed.check).toBe('passed');
    expect(passed.heard[0]).toBeGreaterThan(0);
    expect(passed.heard[1]).toBeGreaterThan(0);
  });

  it('localhost, listed, does not where the service itself listens at that port (rule EGRESS-6)', async () => {
    const ownEndpoints = () => [{ host: 'service.example', port: canary.port }];
    await canary.expectUnheard(systemDoor({ ...listed('localhost'), ownEndpoints }), listedOrigin('localhost'));
  });

  it.skipIf(loopbackNames.length === 0)(
    `other names of the hosts file for loopback do not, listed or not (${loopbackNames.join(', ') || 'it holds none'})`,
    async () => {
      for (const name of loopbackNames) {
        await canary.expectUnheard(systemDoor(listed(name)), listedOrigin(name));
        await canary.expectUndialled(systemDoor({}), `https://${name}`);
      }
    },
  );
});
