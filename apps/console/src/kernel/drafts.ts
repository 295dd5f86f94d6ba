/** What somebody writes and has not saved, by the id of what it is of. In memory alone: leaving a screen loses nothing, closing asks. */
interface Draft {
  readonly text: string;
  /** What it was begun from: the id of the version, and its text. */
  readonly base: { readonly id: string; readonly number: number; readonly text: string };
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

const changed = (): void => {
  // A listener that always stands would keep the browser from going back fast.
  if (drafts.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
  for (const listener of listeners) listener();
};

export const draftOf = (id: string): Draft | null => drafts.get(id) ?? null;

export const hasDrafts = (): boolean => drafts.size > 0;

/** What says the same as its base is none. */
export const keepDraft = (id: string, draft: Draft): void => {
  if (draft.text === draft.base.text) drafts.delete(id);
  else drafts.set(id, draft);
  changed();
};

export const dropDraft = (id: string): void => {
  drafts.delete(id);
  changed();
};

/** For `useSyncExternalStore`. */
export const subscribeToDrafts = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export type { Draft };
