/**
 * What a person has written and not saved; kept in memory. Leaving a screen keeps it; closing the page asks first, and
 * a page that holds any stays when the session ends.
 */

/** Names of what is unsaved, of policies and of connectors. */
const unsaved = new Set<string>();

/** The text of an object that a person has edited, by the object's id. */
interface Draft {
  readonly text: string;
  /** The version that the draft was begun from. */
  readonly base: { readonly id: string; readonly number: number; readonly text: string };
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

/** Says whether there is something unsaved under a name. Whoever keeps it says so whenever that changes. */
export const markUnsaved = (name: string, isUnsaved: boolean): void => {
  if (isUnsaved) unsaved.add(name);
  else unsaved.delete(name);
  // Registered only while there is something unsaved, because a page with a `beforeunload` listener is kept out of the
  // back/forward cache.
  if (unsaved.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
};

export const hasUnsaved = (): boolean => unsaved.size > 0;

/** Lets the page go without a question. For a page that is left for good: what was written is not saved. */
export const dropUnsaved = (): void => {
  for (const name of unsaved) markUnsaved(name, false);
};

const changed = (id: string): void => {
  markUnsaved(id, drafts.has(id));
  for (const listener of listeners) listener();
};

export const draftOf = (id: string): Draft | null => drafts.get(id) ?? null;

/** Keeps a draft. A draft whose text equals its base is dropped, because it holds no change. */
export const keepDraft = (id: string, draft: Draft): void => {
  if (draft.text === draft.base.text) drafts.delete(id);
  else drafts.set(id, draft);
  changed(id);
};

export const dropDraft = (id: string): void => {
  drafts.delete(id);
  changed(id);
};

/** In the form that `useSyncExternalStore` takes: returns a function that ends the subscription. */
export const subscribeToDrafts = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export type { Draft };
