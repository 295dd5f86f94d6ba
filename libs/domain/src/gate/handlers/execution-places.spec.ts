import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, OrgId } from '../../kernel/index.js';
import { ExecutionPlaces } from './execution-places.js';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const [noisy, other] = ['org_noisy', 'org_other'] as OrgId[] as [OrgId, OrgId];
const PLACES = 8;

let ends: Map<ActionId, () => void>;
let begun: ActionId[];
let places: ExecutionPlaces;
beforeEach(() => {
  ends = new Map();
  begun = [];
  const executor = {
    orgOf: (id: ActionId) => Promise.resolve(id.startsWith('none') ? null : (id.split(':')[0] as OrgId)),
    claimAndRun: (id: ActionId) => {
      begun.push(id);
      return new Promise<boolean>((end) => void ends.set(id, () => end(true)));
    },
  };
  places = new ExecutionPlaces(executor, logger, PLACES);
});

const settled = () => new Promise(setImmediate);
const takeUp = async (org: OrgId, first: number, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) void places.takeUp(`${org}:${first + each}` as ActionId);
  await settled();
};
const end = async (id: string): Promise<void> => {
  ends.get(id as ActionId)?.();
  await settled();
};
const begunBy = (org: OrgId): string[] => begun.filter((id) => id.startsWith(org));

describe('places for executions', () => {
  it('are half of one organization alone, and every other begins at once beside it', async () => {
    await takeUp(noisy, 0, 20);
    expect(begunBy(noisy)).toHaveLength(PLACES / 2);
    await takeUp(other, 0, 1);
    expect(begunBy(other)).toHaveLength(1);
  });

  it('are never more than there are', async () => {
    for (let org = 0; org < 20; org += 1) await takeUp(`org_${org}` as OrgId, 0, 20);
    expect(begun).toHaveLength(PLACES);
  });

  it('pass on to what waits, by turns of the organizations', async () => {
    await takeUp(noisy, 0, 20);
    await takeUp(other, 0, 20);
    const before = begunBy(noisy).length;
    await end(`${noisy}:0`);
    await end(`${noisy}:1`);
    expect(begunBy(noisy).length + begunBy(other).length).toBe(PLACES - 2 + 2);
    expect(begunBy(noisy).length - before).toBeLessThanOrEqual(1);
  });

  it('that are waited for are held by nobody: the job is over, and is begun later', async () => {
    await takeUp(noisy, 0, 4);
    await places.takeUp(`${noisy}:late` as ActionId);
    expect(begun).not.toContain(`${noisy}:late`);
    await end(`${noisy}:0`);
    expect(begun).toContain(`${noisy}:late`);
  });

  it('taken for a call of this process itself count alike', async () => {
    for (let each = 0; each < 4; each += 1) expect(places.take(noisy)).toBe(true);
    expect(places.take(noisy)).toBe(false);
    expect(places.take(other)).toBe(true);
    places.giveBack(noisy);
    expect(places.take(noisy)).toBe(true);
  });

  it('once closed are given to nothing that waits', async () => {
    await takeUp(noisy, 0, 5);
    places.close();
    await end(`${noisy}:0`);
    expect(begun).toHaveLength(4);
  });

  it('are not needed for what is no action', async () => {
    await places.takeUp('none' as ActionId);
    expect(begun).toEqual([]);
  });
});
