import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hasUnsaved } from '../kernel/drafts.ts';
import { type ConnectorDraft, dropDraft, hasDraft, keepDraft, newDraft } from './drafts.ts';

/** Event types that have a listener on the window. */
const heard = new Set<string>();

beforeEach(() => {
  vi.stubGlobal('addEventListener', (type: string) => heard.add(type));
  vi.stubGlobal('removeEventListener', (type: string) => heard.delete(type));
});
afterEach(() => {
  dropDraft('new:rest');
  vi.unstubAllGlobals();
});

const draft: ConnectorDraft = newDraft({ type: 'object' });

it('closing the page asks while there is an unsaved connector', () => {
  keepDraft('new:rest', { ...draft, name: 'crm', isTouched: true });
  expect([hasDraft('new:rest'), hasUnsaved(), heard.has('beforeunload')]).toEqual([true, true, true]);
  dropDraft('new:rest');
  expect([hasDraft('new:rest'), hasUnsaved(), heard.has('beforeunload')]).toEqual([false, false, false]);
});

it('closing the page does not ask about a form in which nothing was typed', () => {
  keepDraft('new:rest', draft);
  expect([hasDraft('new:rest'), hasUnsaved(), heard.has('beforeunload')]).toEqual([false, false, false]);
});
