import { afterAll, beforeAll, expect } from 'vitest';

import type { EgressSettings } from '../destination-rules.js';
import type { EgressDoor } from '../egress-door.js';
import type { Resolve } from '../resolver.js';
import { Canary } from './canary.js';
import { type Dials, watchDials } from './dials.js';
import { type Passage, passageThrough, REFUSED } from './passage.js';

export const PRODUCTION: Partial<EgressSettings> = { allowPrivate: false, allowPlainText: false };
export const noResolver: Resolve = () => Promise.reject(new Error('a literal is not resolved'));

/** A passage, and whom the door dialled for it. */
interface WatchedPassage extends Passage {
  readonly dialled: readonly string[];
}

export interface GivenCanary {
  readonly port: number;
  /** Tries both ends of the door, and listens. */
  passage(door: EgressDoor, origin: string): Promise<WatchedPassage & { heard: readonly [number, number] }>;
  /** For a destination behind which the canary stands: its silence is the door's doing. */
  expectUnheard(door: EgressDoor, origin: string, changes?: Partial<Passage>): Promise<void>;
  /** For a destination where no canary can be: no connection is attempted. */
  expectUndialled(door: EgressDoor, origin: string): Promise<void>;
}

/** To be called once in a spec. */
export const givenCanary = (): GivenCanary => {
  let canary: Canary;
  let dials: Dials;
  beforeAll(async () => {
    canary = await Canary.listen();
    dials = watchDials(canary.port);
  });
  afterAll(async () => {
    dials?.end();
    await canary?.close();
  });
  const watched = async (door: EgressDoor, origin: string): Promise<WatchedPassage> => {
    dials.take();
    return { ...(await passageThrough(door, origin)), dialled: dials.take() };
  };
  const passage = async (door: EgressDoor, origin: string) => {
    await canary.heard();
    return { ...(await watched(door, origin)), heard: await canary.heard() };
  };
  const refused = (origin: string) => ({ origin, ...REFUSED, dialled: [] });
  return {
    get port() {
      return canary.port;
    },
    passage,
    expectUnheard: async (door, origin, changes = {}) =>
      expect({ origin, ...(await passage(door, origin)) }).toEqual({ ...refused(origin), heard: [0, 0], ...changes }),
    expectUndialled: async (door, origin) =>
      expect({ origin, ...(await watched(door, origin)) }).toEqual(refused(origin)),
  };
};
