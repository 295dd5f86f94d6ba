import { expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { IntentNonces, NonceHolder, NonceReservation } from '#libs/domain/gate';
import { testId } from '../support/given-log.js';
import { contractOnRows, type RowsUnderTest } from './rows-under-test.js';

const NONCE = 'n-0123456789abcdef';

const wantedBy = (number: number, changes: Partial<NonceReservation> = {}): NonceReservation => ({
  agent: testId('agt', 1),
  nonce: NONCE,
  action: testId('act', number),
  digest: digestOf(`call ${number}`),
  reservedMs: 1_000 + number,
  expiresMs: 10_000,
  ...changes,
});

const holderOf = ({ action, digest, reservedMs }: NonceReservation): NonceHolder => ({ action, digest, reservedMs });

/** The contract that every adapter of the port keeps (libs/domain/src/gate/submission/intent-nonces.port.ts). */
export const intentNoncesContract = (adapter: string, start: () => Promise<RowsUnderTest<IntentNonces>>): void => {
  contractOnRows(`intent nonces contract: ${adapter}`, start, (nonces) => {
    it('reserves a nonce that nobody holds', async () => {
      expect(await nonces.one.reserve(wantedBy(1))).toMatchObject(holderOf(wantedBy(1)));
    });

    it('leaves a nonce with the submission that holds it, whoever asks later', async () => {
      const first = wantedBy(1);
      await nonces.one.reserve(first);
      expect(await nonces.other.reserve(wantedBy(2))).toMatchObject(holderOf(first));
      expect(await nonces.one.reserve(wantedBy(1, { digest: digestOf('another call') }))).toMatchObject(
        holderOf(first),
      );
    });

    it('answers a submission that asks again with its first reservation', async () => {
      await nonces.one.reserve(wantedBy(1));
      const again = wantedBy(1, { reservedMs: 5_000, expiresMs: 20_000 });
      expect(await nonces.other.reserve(again)).toMatchObject(holderOf(wantedBy(1)));
    });

    it('keeps the nonces of each agent apart, byte for byte', async () => {
      const spellings = [NONCE, NONCE.toUpperCase(), ` ${NONCE}`, 'é', 'e\u0301', '{"a",\\b}', 'NULL', '\u{1F512}'];
      const wanted = spellings.flatMap((nonce, index) => [
        wantedBy(2 * index, { nonce }),
        wantedBy(2 * index + 1, { nonce, agent: testId('agt', 2) }),
      ]);
      const holders = await Promise.all(wanted.map((each) => nonces.one.reserve(each)));
      expect(holders.map(({ action }) => action)).toEqual(wanted.map(({ action }) => action));
    });

    it('gives a nonce to one of many that ask at once, and tells all of them to whom', async () => {
      const numbers = Array.from({ length: 64 }, (_, index) => index);
      const holders = await Promise.all(
        numbers.map((number) => (number % 2 === 0 ? nonces.one : nonces.other).reserve(wantedBy(number))),
      );
      const first = holders[0] as NonceHolder;
      expect(numbers.map((number) => wantedBy(number).action)).toContain(first.action);
      for (const holder of holders) expect(holder).toMatchObject({ action: first.action, digest: first.digest });
    });

    it('gives a nonce of a holder to another action, which holds it from then on', async () => {
      const [first, second] = [wantedBy(1), wantedBy(2)];
      await nonces.one.reserve(first);
      expect(await nonces.other.takeOver(second, first.action)).toBe(true);
      expect(await nonces.one.reserve(first)).toMatchObject(holderOf(second));
      expect(await nonces.one.takeOver(first, first.action)).toBe(false);
      expect(await nonces.one.reserve(wantedBy(3))).toMatchObject(holderOf(second));
    });

    it('takes a nonce over from its holder alone', async () => {
      expect(await nonces.one.takeOver(wantedBy(2), wantedBy(1).action)).toBe(false);
      await nonces.one.reserve(wantedBy(1));
      expect(await nonces.one.takeOver(wantedBy(2), wantedBy(3).action)).toBe(false);
      const ofAnother = wantedBy(2, { agent: testId('agt', 2) });
      expect(await nonces.one.takeOver(ofAnother, wantedBy(1).action)).toBe(false);
      expect(await nonces.one.reserve(wantedBy(2))).toMatchObject(holderOf(wantedBy(1)));
      expect(await nonces.one.reserve(ofAnother)).toMatchObject(holderOf(ofAnother));
    });

    it('lets one of many take a nonce over', async () => {
      await nonces.one.reserve(wantedBy(0));
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
      const taken = await Promise.all(
        numbers.map((number) =>
          (number % 2 === 0 ? nonces.one : nonces.other).takeOver(wantedBy(number), wantedBy(0).action),
        ),
      );
      const winners = numbers.filter((_, index) => taken[index]);
      expect(winners).toHaveLength(1);
      expect(await nonces.one.reserve(wantedBy(9))).toMatchObject(holderOf(wantedBy(winners[0] as number)));
    });

    it('keeps a row until it expires, and no longer', async () => {
      await nonces.one.reserve(wantedBy(1));
      await nonces.one.reserve(wantedBy(2, { nonce: 'later', expiresMs: 10_001 }));
      expect(await nonces.other.removeExpired(10_000)).toBe(0);
      expect(await nonces.one.reserve(wantedBy(3))).toMatchObject(holderOf(wantedBy(1)));
      expect(await nonces.other.removeExpired(10_001)).toBe(1);
      expect(await nonces.other.removeExpired(10_001)).toBe(0);
      expect(await nonces.one.reserve(wantedBy(3))).toMatchObject(holderOf(wantedBy(3)));
      expect(await nonces.one.reserve(wantedBy(4, { nonce: 'later' }))).toMatchObject({ action: wantedBy(2).action });
    });

    it('keeps a row that was taken over as long as the new reservation says', async () => {
      await nonces.one.reserve(wantedBy(1));
      await nonces.one.takeOver(wantedBy(2, { expiresMs: 20_000 }), wantedBy(1).action);
      expect(await nonces.one.removeExpired(20_000)).toBe(0);
      expect(await nonces.one.removeExpired(20_001)).toBe(1);
    });
  });
};
