import { useCallback, useEffect, useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { type Draft, emptyDraft, type Json, toDraft } from './draft.ts';
import type { Schema } from './schema.ts';

/** A connector that is being written: what was typed, and what it began from. */
export interface ConnectorDraft {
  readonly name: string;
  readonly description: string;
  readonly config: Draft;
  /** The config that it changes; null for a new one. */
  readonly base: { readonly hash: string; readonly config: Json } | null;
  /** Whether anything was typed. */
  readonly isTouched: boolean;
}

/** In memory, so that leaving the page and coming back loses nothing. None is ever stored. */
const KEPT = new Map<string, ConnectorDraft>();

export const newDraft = (schema: Schema): ConnectorDraft => ({
  name: '',
  description: '',
  config: emptyDraft(schema),
  base: null,
  isTouched: false,
});

/** @throws {Misfit} where its config is not of the schema's form */
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
 * The draft under a name, kept until it is dropped.
 * @param begin what it is where there is none yet
 */
export const useKeptDraft = (key: string, begin: () => ConnectorDraft) => {
  const [draft, setDraft] = useState<ConnectorDraft>(() => KEPT.get(key) ?? begin());
  const change = useCallback(
    (next: Partial<ConnectorDraft>): void =>
      setDraft((known) => {
        const changed = { ...known, isTouched: true, ...next };
        KEPT.set(key, changed);
        return changed;
      }),
    [key],
  );
  const drop = useCallback((): void => {
    KEPT.delete(key);
  }, [key]);
  useEffect(() => {
    if (!draft.isTouched) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [draft.isTouched]);
  return { draft, change, drop };
};

export const dropDraft = (key: string): void => void KEPT.delete(key);

export const hasDraft = (key: string): boolean => KEPT.get(key)?.isTouched === true;
