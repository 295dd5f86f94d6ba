import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { idPattern } from './id-pattern.ts';
import { withoutKeySecrets } from './key-name.ts';

/** The filters of a screen, kept in the query of its address under the API's names for them. */
export const useFilters = () => {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const filters = useMemo(() => new URLSearchParams(search), [search]);
  /** Sets each named filter to its value; null or '' removes the filter. */
  const change = (values: Readonly<Record<string, string | null>>): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === '') next.delete(name);
      else next.set(name, withoutKeySecrets(value));
    }
    const text = next.toString();
    navigate(text === '' ? path : `${path}?${text}`, { replace: true });
  };
  const set = (name: string, value: string | null): void => change({ [name]: value });
  return { filters, set, change, clear: () => navigate(path, { replace: true }) };
};

/**
 * State of a screen's form for creating an object. The form also opens if the address has `?new=`, so that other
 * screens can link to it.
 */
export const useNew = () => {
  const { filters, set } = useFilters();
  const [isNew, setNew] = useState(() => filters.has('new'));
  const end = (): void => {
    setNew(false);
    if (filters.has('new')) set('new', null);
  };
  return { isNew, begin: () => setNew(true), end };
};

/** The screen's path below `/app`, by the prefix of the ids that it shows. */
const SCREEN_OF_ID: Readonly<Record<string, string>> = {
  act: 'actions',
  apr: 'approvals',
  agt: 'agents',
  pol: 'policies',
  con: 'connectors',
  deed: 'deeds',
  whk: 'settings',
};

const SCREEN_ID = idPattern(...Object.keys(SCREEN_OF_ID));

/** The path of the page about a pasted id; null if the text is no id, or no page shows its kind. */
export const placeOfId = (text: string): string | null => {
  const [whole, prefix] = SCREEN_ID.exec(text.trim()) ?? [];
  return whole === undefined || prefix === undefined ? null : `/${SCREEN_OF_ID[prefix] ?? ''}/${whole}`;
};
