import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ConnectorId, OrgId } from '../../kernel/index.js';
import { FairShares, type Sharer } from './fair-shares.js';

const SIZE = 128;
const sharer = (org: string, connector: string): Sharer => ({
  org: `org_${org}` as OrgId,
  connector: `con_${org}_${connector}` as ConnectorId,
});
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

let shares: FairShares;
beforeEach(() => (shares = new FairShares(SIZE)));

/** Takes all places that a sharer can get, and returns how many. */
const takeAll = (who: Sharer): number => {
  for (let count = 0; ; count += 1) if (!shares.take(who)) return count;
};
/** Takes all places that an organization with so many connectors can get, one connector after the other. */
const takeAllOf = (org: string, connectors: number): number =>
  numbered(connectors).reduce((sum, connector) => sum + takeAll(sharer(org, connector)), 0);

describe('places shared by organizations and their connectors', () => {
  it('go half to one connector alone, and a quarter at once to the next of its organization', () => {
    expect(takeAll(sharer('a', 'hangs'))).toBe(64);
    expect(takeAll(sharer('a', 'quick'))).toBe(32);
  });

  it('are three quarters for an organization, and the others of its connectors get a spare one each', () => {
    expect(numbered(5).map((connector) => takeAll(sharer('a', connector)))).toEqual([64, 32, 1, 1, 1]);
    expect(takeAll(sharer('b', '0'))).toBe(16);
  });

  it('leave one for each of 128 further organizations, after eight hanging ones have taken all shared ones', () => {
    const held = numbered(136).map((org) => takeAllOf(org, 1));
    expect(held.slice(0, 8)).toEqual([64, 32, 16, 8, 4, 2, 1, 1]);
    expect(held.slice(8)).toEqual(Array.from({ length: 128 }, () => 1));
    expect(takeAllOf('late', 1)).toBe(0);
  });

  it('leave one for each of 64 further organizations while a thousand hanging connectors hold 144', () => {
    expect(takeAllOf('a', 1000)).toBe(96 + 48);
    const held = ['b', 'c', 'd', 'e'].map((org) => takeAllOf(org, 1000));
    expect(held).toEqual([24 + 12, 6 + 3, 2 + 1, 1]);
    for (const org of numbered(63)) expect(takeAllOf(org, 1)).toBe(1);
  });

  it('even out as they are given back', () => {
    const [first, second] = [sharer('a', 'first'), sharer('a', 'second')];
    let [ofFirst, ofSecond] = [takeAll(first), takeAll(second)];
    for (let turn = 0; turn < 100; turn += 1) {
      shares.giveBack(first);
      ofSecond += takeAll(second);
      ofFirst += takeAll(first) - 1;
    }
    expect(Math.abs(ofFirst - ofSecond)).toBeLessThanOrEqual(1);
    expect(ofFirst + ofSecond).toBeGreaterThanOrEqual(85);
  });

  it('are given back with the spare one first, because another connector may need it', () => {
    shares = new FairShares(2);
    const [first, second] = [sharer('a', 'first'), sharer('a', 'second')];
    const [third, fourth] = [sharer('a', 'third'), sharer('a', 'fourth')];
    // Two shared places and the one spare place for connectors are taken, so the fourth connector gets none.
    expect([first, second, third, fourth].map((who) => shares.take(who))).toEqual([true, true, true, false]);
    shares.giveBack(first);
    expect(shares.take(third)).toBe(true);
    shares.giveBack(third);
    expect(shares.take(third)).toBe(false);
    expect(shares.take(fourth)).toBe(true);
  });

  it('leave nothing behind of a connector that has given back all of its own', () => {
    const fresh = new FairShares(SIZE);
    for (const each of [shares, fresh]) each.take(sharer('a', 'stays'));
    for (const connector of numbered(1000)) {
      shares.take(sharer('a', connector));
      shares.giveBack(sharer('a', connector));
    }
    expect(shares).toEqual(fresh);
  });

  it('do not become more if one is given back that was never taken', () => {
    shares.giveBack(sharer('a', '0'));
    expect(takeAll(sharer('a', '0'))).toBe(64);
    shares.giveBack(sharer('a', '1'));
    expect(takeAll(sharer('a', '1'))).toBe(32);
  });
});

interface Step {
  readonly takes: boolean;
  readonly org: number;
  readonly connector: number;
  readonly times: number;
}

const STEPS = fc.array(
  fc.record<Step>({
    takes: fc.boolean(),
    org: fc.nat(30),
    connector: fc.nat(30),
    times: fc.integer({ min: 1, max: 20 }),
  }),
  { minLength: 1, maxLength: 300 },
);

/** A count of everybody's places, independent of FairShares. */
class Books {
  readonly held = new Map<string, { who: Sharer; count: number }>();

  add(who: Sharer, count: number): void {
    const key = `${who.org}/${who.connector}`;
    this.held.set(key, { who, count: this.of(who) + count });
  }
  of = (who: Sharer): number => this.held.get(`${who.org}/${who.connector}`)?.count ?? 0;
  ofOrg = (org: OrgId): number => this.sum((who) => who.org === org);
  all = (): number => this.sum(() => true);

  private sum(isCounted: (who: Sharer) => boolean): number {
    return [...this.held.values()].reduce((sum, { who, count }) => sum + (isCounted(who) ? count : 0), 0);
  }
}

describe('in whatever order they are taken and given back, places', () => {
  const size = 16;
  const play = (steps: readonly Step[], onRefusal: (who: Sharer, books: Books) => void) => {
    const places = new FairShares(size);
    const books = new Books();
    for (const { takes, org, connector, times } of steps) {
      const who = sharer(String(org), String(connector));
      for (let time = 0; time < times; time += 1) {
        if (takes && places.take(who)) books.add(who, 1);
        else if (takes) onRefusal(who, books);
        else if (books.of(who) > 0) {
          places.giveBack(who);
          books.add(who, -1);
        }
      }
      expect(books.all()).toBeLessThanOrEqual(2 * size);
      expect(books.of(who)).toBeLessThanOrEqual(size / 2 + 1);
      expect(books.ofOrg(who.org)).toBeLessThanOrEqual((size * 3) / 4 + (size * 3) / 8);
      expect(places.isOpenTo(who.org)).toBe(new Probe(places).wouldGiveNewConnectorOf(who.org));
    }
    return { places, books };
  };

  it('keep every bound, and refuse a first one only for the reasons that are given', () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        play(steps, (who, books) => {
          const [ofOrg, all] = [books.ofOrg(who.org), books.all()];
          if (ofOrg === 0) expect(all).toBe(2 * size);
          else if (books.of(who) === 0) expect(ofOrg).toBeGreaterThanOrEqual(3 * (size + size / 2 - all));
          else expect(all).toBeGreaterThanOrEqual(size / 2);
        });
      }),
    );
  });

  it('are all there again when all were given back', () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        const { places, books } = play(steps, () => undefined);
        for (const { who, count } of books.held.values()) {
          for (let each = 0; each < count; each += 1) places.giveBack(who);
        }
        expect(places).toEqual(new FairShares(size));
      }),
    );
  });
});

/** Finds out whether a place could be had, by taking it and giving it back. */
class Probe {
  constructor(private readonly places: FairShares) {}

  wouldGiveNewConnectorOf(org: OrgId): boolean {
    const who = { org, connector: 'con_new' as ConnectorId };
    const isGiven = this.places.take(who);
    if (isGiven) this.places.giveBack(who);
    return isGiven;
  }
}
