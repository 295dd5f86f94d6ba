import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, ConnectorId, JobQueue, OrgId, Randomness } from '../../kernel/index.js';
import type { Claimant } from '../action/index.js';
import type { Sharer } from './fair-shares.js';
import type { ActionExecutor } from './action-executor.js';
import { ExecutionPlaces } from './execution-places.js';
import type { Accepted } from './execution-starter.js';
import { InlineExecutionStarter } from './inline-execution-starter.js';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const caller: Sharer = { org: 'org_a' as OrgId, connector: 'con_a' as ConnectorId };
const accepted = { id: 'act_1' as ActionId } as Accepted;

let places: ExecutionPlaces;
let withdrawn: string[];
let outcome: () => Promise<void>;
let starter: InlineExecutionStarter;
beforeEach(() => {
  withdrawn = [];
  const executor = {
    run: () => outcome(),
    withdraw: (claim: string) => void withdrawn.push(claim),
    sharerOf: () => Promise.resolve(caller),
    claimAndRun: () => Promise.resolve(true),
  } as unknown as ActionExecutor;
  let last = 0;
  const randomness: Randomness = { bytes: (count) => new Uint8Array(count).fill((last += 1)) };
  // With two places, one connector alone gets one.
  places = new ExecutionPlaces(executor, logger, 2);
  starter = new InlineExecutionStarter({ executor, places, queue: {} as JobQueue }, 'exe_1', randomness, logger);
});

const claimed = (): Claimant => {
  const claimant = starter.claimant(caller);
  if (!claimant) throw new Error('there was no place');
  return claimant;
};
const settled = () => new Promise(setImmediate);

describe('a place taken for a call of this process', () => {
  it('is held while the call is under way, and by it alone', () => {
    claimed();
    expect(starter.claimant(caller)).toBeNull();
  });

  it.each([true, false])('is given back where the accepting append failed (may stand: %s)', (mayStand) => {
    const claimant = claimed();
    starter.withdraw(claimant, mayStand);
    expect(withdrawn).toEqual(mayStand ? [claimant.claim] : []);
    expect(starter.claimant(caller)).not.toBeNull();
  });

  it.each([
    ['was recorded', () => Promise.resolve()],
    ['could not be recorded', () => Promise.reject(new Error('the store is away'))],
  ])('is given back where the execution %s', async (_, end) => {
    outcome = end;
    await starter.start(accepted, claimed());
    await settled();
    expect(starter.claimant(caller)).not.toBeNull();
  });

  it('is given back once', () => {
    const first = claimed();
    starter.withdraw(first, false);
    claimed();
    starter.withdraw(first, false);
    expect(starter.claimant(caller)).toBeNull();
  });
});
