import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { draftOf, dropDraft, hasUnsaved, keepDraft, subscribeToDrafts } from './drafts.ts';

const base = { id: 'pv_1', number: 1, text: 'first' };

/** Event types that have a listener on the window. */
const heard = new Set<string>();

beforeEach(() => {
  vi.stubGlobal('addEventListener', (type: string) => heard.add(type));
  vi.stubGlobal('removeEventListener', (type: string) => heard.delete(type));
});
afterEach(() => {
  dropDraft('pol_1');
  dropDraft('pol_2');
  vi.unstubAllGlobals();
});

describe('drafts', () => {
  it('are kept by object, and closing the page asks while there is one', () => {
    keepDraft('pol_1', { base, text: 'second' });
    keepDraft('pol_2', { base, text: 'third' });
    expect([draftOf('pol_1')?.text, draftOf('pol_2')?.text]).toEqual(['second', 'third']);
    dropDraft('pol_1');
    expect([draftOf('pol_1'), hasUnsaved(), heard.has('beforeunload')]).toEqual([null, true, true]);
    dropDraft('pol_2');
    expect([hasUnsaved(), heard.has('beforeunload')]).toEqual([false, false]);
  });

  it('are dropped if their text equals their base', () => {
    keepDraft('pol_1', { base, text: 'second' });
    keepDraft('pol_1', { base, text: 'first' });
    expect([draftOf('pol_1'), hasUnsaved()]).toEqual([null, false]);
  });

  it('notify listeners of every change', () => {
    const listener = vi.fn();
    const end = subscribeToDrafts(listener);
    keepDraft('pol_1', { base, text: 'second' });
    dropDraft('pol_1');
    end();
    keepDraft('pol_1', { base, text: 'second' });
    expect(listener).toHaveBeenCalledTimes(2);
  });
});
