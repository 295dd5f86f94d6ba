import { describe, expect, it } from 'vitest';
import type { EndSignal } from '#libs/domain/kernel';
import { CallEnd } from './call-end.js';

/** `CallEnd`, and Node's `AbortController`, which it replaces. */
const KINDS: readonly [string, () => { readonly signal: EndSignal; readonly abort: () => void }][] = [
  [
    'an AbortController',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: () => controller.abort() };
    },
  ],
  [
    'a CallEnd',
    () => {
      const end = new CallEnd();
      return { signal: end, abort: () => end.abort() };
    },
  ],
];

describe.each(KINDS)('%s', (_name, make) => {
  it('calls each listener once, in order, when the call ends', () => {
    const { signal, abort } = make();
    const heard: string[] = [];
    const first = (): void => void heard.push(`first, ${String(signal.aborted)}`);
    signal.addEventListener('abort', first);
    signal.addEventListener('abort', first);
    signal.addEventListener('abort', () => heard.push('second'));
    expect([signal.aborted, heard]).toEqual([false, []]);
    abort();
    abort();
    expect([signal.aborted, heard]).toEqual([true, ['first, true', 'second']]);
  });

  it('does not call a removed listener, not even one that an earlier listener removed', () => {
    const { signal, abort } = make();
    const heard: string[] = [];
    const gone = (): void => void heard.push('gone');
    const takenAway = (): void => void heard.push('taken away');
    signal.addEventListener('abort', gone);
    signal.addEventListener('abort', () => signal.removeEventListener('abort', takenAway));
    signal.addEventListener('abort', takenAway);
    signal.removeEventListener('abort', gone);
    signal.removeEventListener('abort', () => undefined);
    abort();
    expect(heard).toEqual([]);
  });

  it('does not call a listener that was added after the end', () => {
    const { signal, abort } = make();
    const heard: string[] = [];
    abort();
    signal.addEventListener('abort', () => heard.push('late'));
    abort();
    expect(heard).toEqual([]);
  });
});
