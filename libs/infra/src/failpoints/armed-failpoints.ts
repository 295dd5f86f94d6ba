import { setTimeout as delay } from 'node:timers/promises';
import { DomainError, StoreUnavailable, type Failpoint, type Failpoints } from '#libs/domain/kernel';
import type { FailpointOrder } from './failpoint-orders.js';

/** Ends this process as a crash does: nothing after it runs. */
const killSelf = async (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => undefined);
};

/** Carries out orders, in the order they were given. */
export class ArmedFailpoints implements Failpoints {
  private readonly hits = new Map<Failpoint, number>();

  /**
   * @param onActing told of every hit that an order is for, before it is carried out
   * @param onDelayed told when a delay is over, before its caller goes on
   * @param kill never resolves
   */
  constructor(
    private readonly orders: readonly FailpointOrder[],
    private readonly onActing: (order: FailpointOrder) => void,
    private readonly onDelayed: (order: FailpointOrder) => void,
    private readonly kill: () => Promise<never> = killSelf,
  ) {}

  isArmed(name: Failpoint): boolean {
    return this.orders.some(({ point }) => point === name);
  }

  async hit(name: Failpoint): Promise<void> {
    const hit = (this.hits.get(name) ?? 0) + 1;
    this.hits.set(name, hit);
    for (const order of this.orders) {
      const { point, action, atHit } = order;
      if (point !== name || (atHit !== null && atHit !== hit)) continue;
      this.onActing(order);
      if (action.kind === 'kill') await this.kill();
      if (action.kind === 'error') throw faultAt(name);
      if (action.kind !== 'delay') continue;
      await delay(action.durationMs);
      this.onDelayed(order);
    }
  }
}

/** As the call at that place fails. Whatever is thrown while a request is under way counts as a broken connection. */
const faultAt = (name: Failpoint): Error =>
  name === 'exec.claimed'
    ? new DomainError('vault_unavailable')
    : new StoreUnavailable(`the failpoint ${name} was asked to fail`);
