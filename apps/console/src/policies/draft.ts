import { useSyncExternalStore } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { draftOf, dropDraft, keepDraft, subscribeToDrafts } from '../kernel/drafts.ts';

/** Two texts to compare, with a title. */
export interface Pair {
  readonly title: string;
  readonly before: string;
  readonly after: string;
}

/** The text with the line endings of `model`: the editor gives line feeds only. */
const withEndingsOf = (model: string, text: string): string =>
  model.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;

/** The text of a policy to edit: its draft if there is one, else its latest version. */
export const useDraft = (policy: Schemas['Policy']) => {
  const { id: policyId, latest_version: latest } = policy;
  const draft = useSyncExternalStore(subscribeToDrafts, () => draftOf(policyId));
  const latestBase = { id: latest.id, number: latest.version, text: latest.source };
  const base = draft?.base ?? latestBase;
  const source = draft?.text ?? latest.source;
  return {
    source,
    base,
    isDraft: draft !== null,
    /** Whether somebody else saved a version since the draft was begun. */
    isBehind: draft !== null && draft.base.id !== latest.id,
    write: (text: string): void => keepDraft(policyId, { base, text: withEndingsOf(base.text, text) }),
    /** Keeps the text, and makes the latest version its base. */
    moveToLatest: (): void => keepDraft(policyId, { base: latestBase, text: source }),
    /** Starts a draft with the text of another version, and the latest version as its base. */
    begin: (text: string): void => keepDraft(policyId, { base: latestBase, text }),
    drop: (): void => dropDraft(policyId),
  };
};

export type PolicyDraft = ReturnType<typeof useDraft>;

/** The comparison of a version with a draft. */
export const pairOf = (before: { readonly number: number; readonly text: string }, draft: PolicyDraft): Pair => ({
  title: `From version ${before.number} to your draft`,
  before: before.text,
  after: draft.source,
});
