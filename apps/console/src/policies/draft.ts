import { useSyncExternalStore } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { draftOf, dropDraft, keepDraft, subscribeToDrafts } from '../kernel/drafts.ts';

/** Two texts that are looked at beside each other. */
export interface Pair {
  readonly title: string;
  readonly before: string;
  readonly after: string;
}

/** Its own line endings, in a text of line feeds alone. */
const withEndingsOf = (model: string, text: string): string =>
  model.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;

/** What is written of a policy: a draft where there is one, else its latest version. */
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
    /** Somebody else saved since the draft was begun. */
    isBehind: draft !== null && draft.base.id !== latest.id,
    write: (text: string): void => keepDraft(policyId, { base, text: withEndingsOf(base.text, text) }),
    /** The text stays, and counts as written onto the latest version. */
    moveToLatest: (): void => keepDraft(policyId, { base: latestBase, text: source }),
    /** Another version's text, as a draft onto the latest. */
    begin: (text: string): void => keepDraft(policyId, { base: latestBase, text }),
    drop: (): void => dropDraft(policyId),
  };
};

export type PolicyDraft = ReturnType<typeof useDraft>;

/** What a draft would add to a version, and take away from it. */
export const pairOf = (before: { readonly number: number; readonly text: string }, draft: PolicyDraft): Pair => ({
  title: `From version ${before.number} to your draft`,
  before: before.text,
  after: draft.source,
});
