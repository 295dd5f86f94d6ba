import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bus } from '#libs/domain/kernel';

export interface BusHarness {
  readonly bus: Bus;
  /** Errors of listeners that were reported so far. */
  readonly reported: readonly unknown[];
  close(): Promise<void>;
}

/** The contract that every adapter of the port keeps (libs/domain/src/kernel/bus.port.ts). */
export const busContract = (adapter: string, start: () => Promise<BusHarness>): void => {
  describe(`bus contract: ${adapter}`, () => {
    let harness: BusHarness;
    beforeEach(async () => {
      harness = await start();
    });
    afterEach(() => harness.close());

    /** Resolves when everything published before has been delivered. */
    const settled = async (): Promise<void> => {
      const heard = vi.fn();
      const leave = harness.bus.subscribe('settled', heard);
      await vi.waitFor(
        () => {
          harness.bus.publish('settled', '');
          expect(heard).toHaveBeenCalled();
        },
        { timeout: 20_000 },
      );
      leave();
    };

    it('delivers to every listener of the channel, in order, and to no other', async () => {
      const [first, second, elsewhere] = [vi.fn(), vi.fn(), vi.fn()];
      harness.bus.subscribe('action:a', first);
      harness.bus.subscribe('action:a', second);
      harness.bus.subscribe('action:b', elsewhere);
      await settled();
      for (const message of ['1', '', 'ünï 🦊']) harness.bus.publish('action:a', message);
      await settled();
      expect(first.mock.calls).toEqual([['1'], [''], ['ünï 🦊']]);
      expect(second.mock.calls).toEqual(first.mock.calls);
      expect(elsewhere).not.toHaveBeenCalled();
    });

    it('does not deliver to a listener that has left, and delivers once for each subscription', async () => {
      const listener = vi.fn();
      const leave = harness.bus.subscribe('action:a', listener);
      harness.bus.subscribe('action:a', listener);
      await settled();
      harness.bus.publish('action:a', 'both');
      await settled();
      leave();
      leave();
      await settled();
      harness.bus.publish('action:a', 'one');
      await settled();
      expect(listener.mock.calls).toEqual([['both'], ['both'], ['one']]);
    });

    it('reports a listener that throws and still delivers to the others', async () => {
      const failure = new Error('cannot listen');
      const other = vi.fn();
      harness.bus.subscribe('action:a', () => {
        throw failure;
      });
      harness.bus.subscribe('action:a', other);
      await settled();
      harness.bus.publish('action:a', 'x');
      await settled();
      expect(other).toHaveBeenCalledTimes(1);
      expect(harness.reported).toEqual([failure]);
    });

    it('does not run listeners in the publisher’s own turn', async () => {
      const listener = vi.fn();
      harness.bus.subscribe('action:a', listener);
      await settled();
      harness.bus.publish('action:a', 'x');
      expect(listener).not.toHaveBeenCalled();
      await settled();
      expect(listener).toHaveBeenCalledTimes(1);
    });

    it('accepts messages for a channel without listeners', async () => {
      harness.bus.publish('action:nobody', 'x');
      await settled();
      expect(harness.reported).toEqual([]);
    });
  });
};
