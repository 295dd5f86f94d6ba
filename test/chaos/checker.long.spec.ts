import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';
import { INVARIANT_IDS, NOT_COMPUTED } from './checker.js';
import { PLANTED_BUGS } from './planted/bugs.js';
import { PlantedRuns } from './planted/planted-runs.js';

/** The dearest one to miss; `npm run chaos -- --planted` runs all, and so does `.ci/run` in the time that it has. */
const HERE = ['INV-02'];

describe('the checker', () => {
  it('computes every invariant of the catalogue, or says why not', () => {
    const all = Array.from({ length: 20 }, (_, index) => `INV-${String(index + 1).padStart(2, '0')}`);
    expect([...INVARIANT_IDS, ...Object.keys(NOT_COMPUTED)].toSorted()).toEqual(all);
  });

  it('has a planted bug for every invariant that it computes', () => {
    expect([...new Set(PLANTED_BUGS.map(({ breaks }) => breaks))].toSorted()).toEqual([...INVARIANT_IDS].toSorted());
  });

  it('is documented by the invariants that it computes', () => {
    const documented = readFileSync(join(ROOT, 'docs', 'chaos.md'), 'utf8');
    expect([...documented.matchAll(/^\| (INV-\d\d) \|/gm)].map(([, id]) => id)).toEqual(INVARIANT_IDS);
  });
});

describe('of a running service', () => {
  let runs: PlantedRuns;
  beforeAll(async () => {
    runs = await PlantedRuns.start();
  });
  afterAll(() => runs?.stop());

  it('without a bug it says nothing', async () => expect(await runs.ofNone([])).toEqual([]));

  it.each(PLANTED_BUGS.filter(({ breaks }) => HERE.includes(breaks)))(
    'in which $name it names $breaks',
    async (bug) => {
      const named = (await runs.ofBug(bug)).map(({ invariant }) => invariant);
      expect(named).toContain(bug.breaks);
    },
  );

  it('it refuses to judge where a bug has no place', async () => {
    const [bug] = PLANTED_BUGS;
    const changes = [{ text: 'a text that no bundle has', becomes: '' }];
    await expect(runs.ofBug({ ...bug!, changes })).rejects.toThrow(
      'a planted bug has no place: the bundles and schemas have 0 times',
    );
  });
});
