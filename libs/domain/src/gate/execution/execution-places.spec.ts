import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, ConnectorId, OrgId } from '../../kernel/index.js';
import type { Sharer } from './fair-shares.js';
import { ExecutionPlaces } from './execution-places.js';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const sharer = (org: string, connector: string): Sharer => ({ org: org as OrgId, connector: connector as ConnectorId });
const [noisy, quick, other] = [sharer('a', 'noisy'), sharer('a', 'quick'), sharer('b', 'other')];
const PLACES = 8;

/** Ends an execution that is under way: with whether it was claimed, or with an error. */
let ends: Map<ActionId, (how: boolean | Error) => void>;
let begun: ActionId[];
let places: ExecutionPlaces;
const open = (placesMax: number): void => {
  ends = new Map();
  begun = [];
  const executor = {
    sharerOf: (id: ActionId) => {
      const [org = '', connector = ''] = id.split('/');
      return Promise.resolve(org === 'none' ? null : sharer(org, connector));
    },
    claimAndRun: (id: ActionId) => {
      begun.push(id);
      return new Promise<boolean>((resolve, reject) => {
        ends.set(id, (how) => (how instanceof Error ? reject(how) : resolve(how)));
      });
    },
  };
  places = new ExecutionPlaces(executor, logger, placesMax);
};
beforeEach(() => open(PLACES));

const settled = () => new Promise(setImmediate);
const idOf = ({ org, connector }: Sharer, number: number | string) => `${org}/${connector}/${number}` as ActionId;
const takeUp = async (who: Sharer, first: number, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) {
    // The queue ignores the error of a job, too.
    places.takeUp(idOf(who, first + each)).catch(() => undefined);
  }
  await settled();
};
const end = async (id: ActionId, how: boolean | Error = true): Promise<void> => {
  ends.get(id)?.(how);
  ends.delete(id);
  await settled();
};
const begunBy = (who: Sharer): string[] => begun.filter((id) => id.startsWith(idOf(who, '')));

describe('places for executions', () => {
  it('go half to one connector alone, so that every other starts at once beside it', async () => {
    await takeUp(noisy, 0, 20);
    expect(begunBy(noisy)).toHaveLength(PLACES / 2);
    for (const who of [quick, other]) {
      await takeUp(who, 0, 1);
      expect(begunBy(who)).toHaveLength(1);
    }
  });

  it('are never more than there are, spare ones included', async () => {
    for (let org = 0; org < 20; org += 1) await takeUp(sharer(`${org}`, 'any'), 0, 20);
    expect(begun).toHaveLength(2 * PLACES);
  });

  it('pass on to waiting actions, and organizations take turns', async () => {
    await takeUp(noisy, 0, 20);
    await takeUp(other, 0, 20);
    expect([begunBy(noisy).length, begunBy(other).length]).toEqual([4, 2]);
    await end(idOf(noisy, 0));
    await end(idOf(noisy, 1));
    // Each organization has three executions under way.
    expect([begunBy(noisy).length, begunBy(other).length]).toEqual([4 + 1, 2 + 1]);
  });

  it('are not held by an action that waits: its job is over, and it starts later', async () => {
    await takeUp(noisy, 0, 4);
    const late = idOf(noisy, 'late');
    await places.takeUp(late);
    expect(begun).not.toContain(late);
    await end(idOf(noisy, 0));
    expect(begun).toContain(late);
  });

  it('that calls of this process itself take are counted, too', () => {
    for (let each = 0; each < 4; each += 1) expect(places.take(noisy)).toBe(true);
    expect(places.take(noisy)).toBe(false);
    expect(places.take(quick)).toBe(true);
    expect(places.take(other)).toBe(true);
    places.giveBack(quick);
    places.giveBack(other);
    places.giveBack(noisy);
    expect(places.take(noisy)).toBe(true);
  });

  it.each<[string, boolean | Error]>([
    ['was claimed by somebody else', false],
    ['failed', new Error('the store is away')],
  ])('are given back by an execution that %s, one that had waited included', async (_, how) => {
    await takeUp(noisy, 0, 8);
    for (let number = 0; number < 8; number += 1) await end(idOf(noisy, number), how);
    expect(begunBy(noisy)).toHaveLength(8);
    await takeUp(noisy, 8, 8);
    expect(begunBy(noisy)).toHaveLength(8 + PLACES / 2);
  });

  it('are given to no waiting action after close', async () => {
    await takeUp(noisy, 0, 5);
    places.close();
    await end(idOf(noisy, 0));
    expect(begun).toHaveLength(4);
  });

  it('are not taken for an unknown action', async () => {
    await places.takeUp('none/none/0' as ActionId);
    expect(begun).toEqual([]);
  });
});

type Step = { readonly does: 'takeUp' | 'end' | 'fail' | 'take' | 'giveBack'; readonly who: Sharer };

const STEPS = fc.array(
  fc.record<Step>({
    does: fc.constantFrom('takeUp', 'takeUp', 'takeUp', 'end', 'fail', 'take', 'giveBack'),
    who: fc.tuple(fc.nat(5), fc.nat(2)).map(([org, connector]) => sharer(`${org}`, `${connector}`)),
  }),
  { minLength: 20, maxLength: 120 },
);

/** Runs steps on the places and records what was submitted and taken. */
class Play {
  private readonly submitted: ActionId[] = [];
  private readonly taken: Sharer[] = [];

  async step({ does, who }: Step): Promise<void> {
    if (does === 'takeUp') {
      this.submitted.push(idOf(who, this.submitted.length));
      await takeUp(who, this.submitted.length - 1, 1);
    } else if (does === 'take') {
      if (places.take(who)) this.taken.push(who);
    } else if (does === 'giveBack') {
      const last = this.taken.pop();
      if (last) places.giveBack(last);
      await settled();
    } else await this.endOne(does === 'end' ? true : new Error('the store is away'));
  }

  async endOne(how: boolean | Error): Promise<void> {
    const [id] = ends.keys();
    if (id) await end(id, how);
  }

  async endAll(): Promise<void> {
    for (const who of this.taken.splice(0)) places.giveBack(who);
    await settled();
    while (ends.size > 0) await this.endOne(true);
  }

  get waiting(): ActionId[] {
    return this.submitted.filter((id) => !begun.includes(id));
  }

  /** For each connector, the order in which its actions were submitted and that in which they began. */
  orders(): [came: string[], begun: string[]][] {
    const connectors = new Set(this.submitted.map((id) => id.slice(0, id.lastIndexOf('/') + 1)));
    const of = (ids: string[], connector: string) => ids.filter((id) => id.startsWith(connector));
    return [...connectors].map((connector) => [of(this.submitted, connector), of(begun, connector)]);
  }
}

describe('in whatever order places are taken and given back', () => {
  it('no action waits that may take one, and each starts once, in order within its connector', async () => {
    const property = fc.asyncProperty(STEPS, async (steps) => {
      open(4);
      const play = new Play();
      for (const step of steps) {
        await play.step(step);
        for (const id of play.waiting) {
          const [org = '', connector = ''] = id.split('/');
          expect(places.take(sharer(org, connector))).toBe(false);
        }
      }
      await play.endAll();
      for (const [came, wereBegun] of play.orders()) expect(wereBegun).toEqual(came);
      for (const count of [1, 2]) expect(places.take(noisy), `place ${count}`).toBe(true);
      expect(places.take(noisy)).toBe(false);
    });
    await fc.assert(property);
  });
});
