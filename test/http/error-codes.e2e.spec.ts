import { afterAll, beforeAll, describe, it } from 'vitest';
import { KEYS, STOPS } from './error-codes/keys.refusals.js';
import { expectRefusal, type Refusal, type RefusalGroup } from './error-codes/refusal.js';
import { Stage } from './error-codes/stage.js';
import { BODIES_AND_QUERIES, TRANSPORT } from './error-codes/transport.refusals.js';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage?.close());

const titled = (refusal: Refusal): [string, Refusal] => {
  const [status, , code] = refusal.verdict;
  return [`${refusal.rule}: ${status} ${code}`, refusal];
};

const describeRefusals = ({ title, enter, leave, refusals }: RefusalGroup): void => {
  describe(title, () => {
    beforeAll(() => enter?.(stage));
    afterAll(() => leave?.(stage));
    it.each(refusals.map(titled))('refuses %s', async (_title, refusal) => {
      expectRefusal(await refusal.provoke(stage), refusal);
    });
  });
};

for (const group of [TRANSPORT, BODIES_AND_QUERIES, KEYS, ...STOPS]) describeRefusals(group);
