/**
 * Text of an object that a person has edited and not saved; kept in memory, by the object's id. Leaving a screen keeps
 * the draft; closing the page asks first.
 */
interface Draft {
  readonly text: string;
  /** The version that the draft was begun from. */
  readonly base: { readonly id: string; readonly number: number; readonly text: string };
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

const changed = (): void => {
  // Registered only while there are drafts, because a page with a `beforeunload` listener is kept out of the
  // back/forward cache.
  if (drafts.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
  for (const listener of listeners) listener();
};

export const draftOf = (id: string): Draft | null => drafts.get(id) ?? null;

export const hasDrafts = (): boolean => drafts.size > 0;

/** Keeps a draft. A draft whose text equals its base is dropped, because it holds no change. */
export const keepDraft = (id: string, draft: Draft): void => {
  if (draft.text === draft.base.text) drafts.delete(id);
  else drafts.set(id, draft);
  changed();
};

export const dropDraft = (id: string): void => {
  drafts.delete(id);
  changed();
};

/** In the form that `useSyncExternalStore` takes: returns a function that ends the subscription. */
export const subscribeToDrafts = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export type { Draft };
