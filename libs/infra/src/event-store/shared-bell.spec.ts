import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Bus, LOG_CHANNEL } from '#libs/domain/kernel';
import { SharedBell } from './shared-bell.js';

/** The bus of several processes: every subscriber gets every message. */
class SpyBus extends Bus {
  readonly published: string[] = [];
  private readonly listeners = new Set<(message: string) => void>();

  publish(channel: string, message: string): void {
    expect(channel).toBe(LOG_CHANNEL);
    this.published.push(message);
    for (const listener of this.listeners) listener(message);
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    expect(channel).toBe(LOG_CHANNEL);
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('other processes hear the bell, and the ringing one does not', () => {
  const bus = new SpyBus();
  const heard = { one: 0, other: 0 };
  const one = new SharedBell(bus, () => (heard.one += 1));
  const other = new SharedBell(bus, () => (heard.other += 1));
  one.ring();
  expect(heard).toEqual({ one: 0, other: 1 });
  other.ring();
  expect(heard).toEqual({ one: 1, other: 1 });
  other.close();
  one.close();
});

it('rings at once, and once more for all appends that follow closely', () => {
  const bus = new SpyBus();
  const bell = new SharedBell(bus, () => undefined);
  bell.ring();
  expect(bus.published).toHaveLength(1);
  for (let append = 0; append < 100; append += 1) bell.ring();
  expect(bus.published).toHaveLength(1);
  vi.runAllTimers();
  expect(bus.published).toHaveLength(2);
  bell.ring();
  expect(bus.published).toHaveLength(3);
  bell.close();
});

it('sends and receives nothing once it is closed', () => {
  const bus = new SpyBus();
  let heard = 0;
  const bell = new SharedBell(bus, () => (heard += 1));
  bell.ring();
  bell.ring();
  bell.close();
  vi.runAllTimers();
  bus.publish(LOG_CHANNEL, 'another');
  expect(bus.published).toHaveLength(2);
  expect(heard).toBe(0);
});
