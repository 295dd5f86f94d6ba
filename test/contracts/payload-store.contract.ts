import { expect, it } from 'vitest';
import { digestOf, newSalt } from '#libs/crypto';
import { BrokenStream, DamagedPayload, type Payload, type PayloadStore } from '#libs/domain/kernel';
import { TEST_ORG, testId } from '../support/given-log.js';
import { contractOnRows, type RowsUnderTest } from './rows-under-test.js';

export interface PayloadRows extends RowsUnderTest<PayloadStore> {
  /** Changes the stored body of the payload behind the service's back. */
  damage(payload: Payload, body: string): Promise<void>;
}

const payloadOf = (number: number, changes: Partial<Omit<Payload, 'digest'>> = {}): Payload => {
  const body = changes.body ?? `{"number":${number}}`;
  const common = { owner: testId('act', number), org: TEST_ORG, kind: 'policy_input' as const };
  return { ...common, ...changes, digest: digestOf(body), body };
};

const read = (port: PayloadStore, { owner, kind, digest }: Payload): Promise<string | null> =>
  port.get(owner, kind, digest);

/**
 * The contract that every adapter of the port keeps (libs/domain/src/kernel/payload-store.port.ts). Appends that bring a
 * payload along are tested where a store takes them (postgres-payload-store.spec.ts).
 */
export const payloadStoreContract = (adapter: string, start: () => Promise<PayloadRows>): void => {
  contractOnRows(`payload store contract: ${adapter}`, start, (payloads) => {
    it.each([
      ['an empty object', '{}'],
      ['text of every kind', JSON.stringify({ a: '\u0000 \' " \\ {,} é \u{1F512} NULL' })],
      ['a long text', JSON.stringify('x'.repeat(200_000))],
    ])('gives back what was put, byte for byte: %s', async (_, body) => {
      const payload = payloadOf(1, { body });
      await payloads.one.put(payload);
      expect([await read(payloads.one, payload), await read(payloads.other, payload)]).toEqual([body, body]);
    });

    it.each(['policy_input', 'result', 'approval_context', 'observation'] as const)(
      'finds a payload by its owner, its kind and its digest together: %s',
      async (kind) => {
        const payload = payloadOf(1, { kind });
        await payloads.one.put(payload);
        const others = [
          payloadOf(2, { kind, body: payload.body }),
          payloadOf(1, { kind: kind === 'result' ? 'policy_input' : 'result' }),
          payloadOf(1, { kind, body: '{"number":2}' }),
        ];
        for (const other of others) expect(await read(payloads.one, other)).toBeNull();
        await Promise.all(others.map((other) => payloads.other.put(other)));
        for (const each of [payload, ...others]) expect(await read(payloads.one, each)).toBe(each.body);
      },
    );

    it('changes nothing by a payload that is stored already, also where many put it at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => payloads.one.put(payloadOf(1))));
      await payloads.other.put(payloadOf(1));
      expect(await read(payloads.one, payloadOf(1))).toBe(payloadOf(1).body);
    });

    it('keeps every salt that a payload was put with, each once, beside a body that was put once', async () => {
      const [one, other, third] = [newSalt(), newSalt(), newSalt()];
      const { owner, kind, digest, body } = payloadOf(1);
      const salted = () => payloads.other.salted(owner, kind, digest);
      expect(await salted()).toBeNull();
      await payloads.one.put(payloadOf(1));
      expect(await salted()).toEqual({ body, salts: [] });
      await Promise.all([one, other, one].map((salt) => payloads.one.put(payloadOf(1, { salt }))));
      await payloads.other.put(payloadOf(1, { salt: third }));
      await payloads.one.put(payloadOf(1));
      const found = await salted();
      expect([found?.body, new Set(found?.salts), found?.salts.length]).toEqual([
        body,
        new Set([one, other, third]),
        3,
      ]);
    });

    it.each(['policy_input', 'result'] as const)(
      'never returns a damaged one, even if it is put again: %s',
      async (kind) => {
        const payload = payloadOf(1, { kind });
        await payloads.one.put(payload);
        await payloads.rows.damage(payload, '{"number":2}');
        await expect(read(payloads.other, payload)).rejects.toThrow(DamagedPayload);
        await payloads.one.put(payload);
        await expect(read(payloads.other, payload)).rejects.toThrow(BrokenStream);
      },
    );

    it('fails the readers of a damaged one alone', async () => {
      const all = [1, 2, 3].map((number) => payloadOf(number));
      for (const payload of all) await payloads.one.put(payload);
      await payloads.rows.damage(payloadOf(2), '{}');
      const ends = await Promise.allSettled(all.map((payload) => read(payloads.other, payload)));
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    });
  });
};
