import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cookiesOf, EventScene, isAbout, type AgentKey } from '../support/event-scene.js';
import type { EventStreamClient } from '../support/event-stream-client.js';

let scene: EventScene;
let acting: AgentKey;

beforeAll(async () => {
  scene = await EventScene.start();
  acting = await scene.agentKey('acting');
});
afterAll(() => scene?.bench.close());
afterEach(() => scene.closeStreams());

const AT_ONCE = 16;
/** What the kernel takes of a reader that stands is for the machine to say: seen up to 3 MB. */
const ROUNDS_MAX = 400;

/** As the service counts them, streams included. */
const openRequests = async (): Promise<number> =>
  Number(/^service_http_in_flight (\d+)$/m.exec(await scene.bench.deployment.metrics.text())?.[1]);

const eventsOf = (stream: EventStreamClient): readonly string[] => stream.events.map(({ id }) => id);

describe('a client of an event stream that reads nothing', () => {
  it('is closed, and costs the others nothing: they hear everything, in order', async () => {
    const healthy = await scene.open(scene.bench.adminKey);
    const stuck = await scene.open(cookiesOf(scene.owner));
    stuck.stand();
    let last = '';
    // Its connection is cut two seconds after it was told, of which a client that reads nothing hears nothing.
    for (let round = 0; round < ROUNDS_MAX && (await openRequests()) > 1; round += 1) {
      const acted = await Promise.all(Array.from({ length: AT_ONCE }, () => scene.act(acting)));
      last = acted.at(-1) as string;
    }
    expect(await openRequests()).toBe(1);
    await healthy.until(3, isAbout(last));
    const heard = eventsOf(healthy).map((id) => BigInt(id.split('.')[1] as string));
    expect(heard).toEqual([...new Set(heard)].sort((one, other) => (one < other ? -1 : 1)));
    expect(healthy.types).not.toContain('resync');
    expect(healthy.hasEnded).toBe(false);
    // What reached it is what the others heard, in order and without a hole, as far as it goes.
    stuck.goOn();
    await stuck.untilEnded();
    const taken = eventsOf(stuck);
    expect(taken.length).toBeLessThan(heard.length);
    expect(eventsOf(healthy).slice(0, taken.length)).toEqual(taken);
  });
});
