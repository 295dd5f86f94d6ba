import { useCallback, useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { markUnsaved } from '../kernel/drafts.ts';
import { type Draft, emptyDraft, type Json, toDraft } from './draft.ts';
import type { Schema } from './schema.ts';

/** The unsaved state of a connector's form, and the config that it was begun from. */
export interface ConnectorDraft {
  readonly name: string;
  readonly description: string;
  readonly config: Draft;
  /** The stored config at the beginning; null for a new connector. */
  readonly base: { readonly hash: string; readonly config: Json } | null;
  /** Whether the person typed anything. */
  readonly isTouched: boolean;
}

/** Drafts by name, kept in memory only, so that leaving the form and coming back loses nothing. */
const KEPT = new Map<string, ConnectorDraft>();

/** Keeps a draft on whatever screen the person is: closing the page asks first as long as there is one. */
export const keepDraft = (key: string, draft: ConnectorDraft): void => {
  KEPT.set(key, draft);
  markUnsaved(key, draft.isTouched);
};

export const dropDraft = (key: string): void => {
  KEPT.delete(key);
  markUnsaved(key, false);
};

export const hasDraft = (key: string): boolean => KEPT.get(key)?.isTouched === true;

/** The names of all drafts in which something was typed. */
export const draftNames = (): readonly string[] => [...KEPT.keys()].filter(hasDraft);

export const newDraft = (schema: Schema): ConnectorDraft => ({
  name: '',
  description: '',
  config: emptyDraft(schema),
  base: null,
  isTouched: false,
});

/** @throws {Misfit} if the config does not fit the schema */
export const draftOf = (schema: Schema, connector: Schemas['Connector']): ConnectorDraft => {
  const config = connector.config as unknown as Json;
  return {
    name: connector.name,
    description: connector.description ?? '',
    config: toDraft(schema, config, 'config'),
    base: { hash: connector.config_hash, config },
    isTouched: false,
  };
};

/**
 * The draft under a name, which is kept until it is dropped.
 * @param begin makes the draft if there is none yet
 */
export const useKeptDraft = (key: string, begin: () => ConnectorDraft) => {
  const [draft, setDraft] = useState<ConnectorDraft>(() => KEPT.get(key) ?? begin());
  const change = useCallback(
    (next: Partial<ConnectorDraft>): void =>
      setDraft((known) => {
        const changed = { ...known, isTouched: true, ...next };
        keepDraft(key, changed);
        return changed;
      }),
    [key],
  );
  const drop = useCallback((): void => dropDraft(key), [key]);
  return { draft, change, drop };
};
