import { afterEach, describe, expect, it } from 'vitest';
import { type Failpoint, failpoint, isFailpointArmed, placeFailpoints, StoreUnavailable } from '#libs/domain/kernel';
import { ArmedFailpoints } from './armed-failpoints.js';
import { type FailpointOrder, parseFailpoints } from './failpoint-orders.js';

afterEach(() => placeFailpoints(null));

/** @returns how often the process would have been killed, which points acted, and which have let go of their caller */
const arm = (text: string): { kills: number; acted: string[]; over: string[] } => {
  const counted = { kills: 0, acted: [] as string[], over: [] as string[] };
  const kill = (): Promise<never> => {
    counted.kills += 1;
    return Promise.reject(new Error('killed'));
  };
  const onActing = ({ point }: FailpointOrder): unknown => counted.acted.push(point);
  const onDelayed = ({ point }: FailpointOrder): unknown => counted.over.push(point);
  placeFailpoints(new ArmedFailpoints(parseFailpoints(text), onActing, onDelayed, kill));
  return counted;
};

describe('a failpoint', () => {
  it('does nothing, and is no promise, until somebody places failpoints', () => {
    expect(failpoint('exec.sent')).toBeUndefined();
    expect(isFailpointArmed('exec.sent')).toBe(false);
  });

  it('does nothing while only others are armed', async () => {
    arm('seal.ack=error');
    await failpoint('exec.sent');
    expect([isFailpointArmed('exec.sent'), isFailpointArmed('seal.ack')]).toEqual([false, true]);
  });

  it('fails at every hit, as the store does', async () => {
    arm('exec.t4=error');
    for (let hit = 1; hit <= 3; hit += 1) await expect(failpoint('exec.t4')).rejects.toThrow(StoreUnavailable);
  });

  it('fails as the vault does where a credential is to be opened', async () => {
    arm('exec.claimed=error');
    await expect(failpoint('exec.claimed')).rejects.toMatchObject({ code: 'vault_unavailable' });
  });

  it('acts at the hit it was asked for, and at no other', async () => {
    const counted = arm('exec.sent=kill@3');
    await failpoint('exec.sent');
    await failpoint('exec.sent');
    await expect(failpoint('exec.sent')).rejects.toThrow('killed');
    await failpoint('exec.sent');
    expect(counted).toEqual({ kills: 1, acted: ['exec.sent'], over: [] });
  });

  it('holds the work up while other work passes it, the longer the later', async () => {
    const { over } = arm('seal.before=delay:40, seal.ack=delay:10');
    const order: string[] = [];
    const pass = async (point: Failpoint): Promise<void> => {
      await failpoint(point);
      order.push(point);
    };
    await Promise.all([pass('seal.before'), pass('seal.ack'), pass('exec.sent')]);
    expect(order).toEqual(['exec.sent', 'seal.ack', 'seal.before']);
    expect(over).toEqual(['seal.ack', 'seal.before']);
  });

  it('counts its hits anew when it is armed again', async () => {
    arm('exec.t4=error@2');
    await failpoint('exec.t4');
    arm('exec.t4=error@2');
    await failpoint('exec.t4');
    await expect(failpoint('exec.t4')).rejects.toThrow(StoreUnavailable);
  });
});
