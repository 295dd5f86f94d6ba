import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import { type Payload, RequirementMoved } from '#libs/domain/kernel';
import { firstOf, newEvents, newStream } from '../support/new-event.js';
import { accompaniedAppendContract } from './event-store/accompanied-append.contract.js';
import type { CompoundAppendsHarness, CompoundUnderTest } from './event-store/compound-under-test.js';
import { expectConflict } from './event-store/log-under-test.js';
import { requiringAppendContract } from './event-store/requiring-append.contract.js';

export type { CompoundAppendsHarness } from './event-store/compound-under-test.js';

/** The contract of either way (libs/domain/src/kernel/compound-appends.port.ts). */
export const compoundAppendsContract = (way: string, start: () => Promise<CompoundAppendsHarness>): void => {
  describe(`compound appends contract: ${way}`, () => {
    const log = startedBeforeAll(start);

    it('writes an append to which nothing belongs', async () => {
      const append = firstOf(newStream(), 2);
      expect(await log.appends.append(append, {})).toMatchObject({ revision: 1 });
      expect(await log.store.readStream(append.stream)).toHaveLength(2);
    });

    it.each([3, 16_384, 16_385])('stores a payload of %i characters beside the events', async (length) => {
      // JSON puts two quotation marks around it.
      const [append, payload] = [firstOf(newStream()), payloadOf('x'.repeat(length - 2))];
      expect(payload.body).toHaveLength(length);
      await log.appends.append(append, { payload });
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
      expect(await log.storedBody(payload)).toBe(payload.body);
    });

    it('stores a payload again without a word', async () => {
      const payload = payloadOf('the same');
      for (const append of [firstOf(newStream()), firstOf(newStream())]) {
        await log.appends.append(append, { payload });
        expect(await log.store.readStream(append.stream)).toHaveLength(1);
      }
    });

    it('writes events if the streams that they require stand where they must', async () => {
      const [one, other] = [firstOf(newStream()), firstOf(newStream(), 3)];
      await log.store.append(one);
      await log.store.append(other);
      const [append, payload] = [firstOf(newStream()), payloadOf('required')];
      const requires = new Map([
        [one.stream, 0],
        [other.stream, 2],
      ]);
      expect(await log.appends.append(append, { payload, requires })).toMatchObject({ revision: 0 });
      expect(await log.storedBody(payload)).toBe(payload.body);
    });

    it.each([
      ['has moved on', 0],
      ['is behind', 2],
    ])('writes no event if a required stream %s', async (_, revision) => {
      const [required, append] = [firstOf(newStream(), 2), firstOf(newStream())];
      await log.store.append(required);
      const requires = new Map([[required.stream, revision]]);
      await expect(log.appends.append(append, { requires })).rejects.toBeInstanceOf(RequirementMoved);
      expect(await log.store.readStream(append.stream)).toEqual([]);
    });

    it('writes no event if a required stream does not exist', async () => {
      const append = firstOf(newStream());
      const requires = new Map([[newStream(), 0]]);
      await expect(log.appends.append(append, { requires })).rejects.toBeInstanceOf(RequirementMoved);
      expect(await log.store.readStream(append.stream)).toEqual([]);
    });

    it('reports a conflict of the append itself', async () => {
      const own = firstOf(newStream());
      await log.store.append(own);
      const again = { ...firstOf(own.stream), events: newEvents(1) };
      const conflict = { stream: own.stream, expected: 'no_stream' as const, actual: 0 };
      await expectConflict(log.appends.append(again, { payload: payloadOf('in conflict') }), conflict);
    });

    it('gives a repeated append the answer of the first one', async () => {
      const [append, payload] = [firstOf(newStream()), payloadOf('repeated')];
      const result = await log.appends.append(append, { payload });
      expect(await log.appends.append(append, { payload })).toEqual(result);
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
    });
  });
};

/** The contract of the way by which one transaction does it all: what no sequence of steps could promise. */
export const transactionalAppendsContract = (way: string, start: () => Promise<CompoundAppendsHarness>): void => {
  compoundAppendsContract(way, start);
  describe(`transactional appends contract: ${way}`, () => {
    const log = startedBeforeAll(start);
    requiringAppendContract(log);
    accompaniedAppendContract(log);
  });
};

const startedBeforeAll = (start: () => Promise<CompoundAppendsHarness>): CompoundUnderTest => {
  const log = {} as { -readonly [Part in keyof CompoundUnderTest]: CompoundUnderTest[Part] };
  beforeAll(async () => {
    const harness = await start();
    Object.assign(log, await harness.open(), { harness });
  });
  afterAll(() => log.harness.close());
  return log;
};

const payloadOf = (text: string): Payload => {
  const body = JSON.stringify(text);
  return { owner: newStream(), org: 'org_1', kind: 'policy_input', digest: digestOf(body), body };
};
