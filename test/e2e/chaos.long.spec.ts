import { describe, expect, it } from 'vitest';
import { chaosOfKills } from '../chaos/chaos-service.js';
import { blindnessOf, verdictOn, verdictText } from '../chaos/verdict.js';

/** Short, so that the suite stays so; `npm run chaos` is the whole proof, and CI runs more of it. */
const KILLS = 5;
/** One whose plan has every kind of kill. */
const SEED = 27;

describe(`${KILLS} kills -9 of the service and its database under load (seed ${SEED})`, () => {
  it('lose, double and invent nothing', async () => {
    const verdict = verdictOn(SEED, await chaosOfKills(SEED, KILLS, () => undefined));
    console.log(verdictText(verdict));
    expect(verdict.violations).toEqual([]);
    expect(blindnessOf(verdict)).toBeNull();
    expect(Object.keys(verdict.coverage.kills).toSorted()).toEqual(['database', 'execution', 'failpoint', 'moment']);
  }, 240_000);
});
