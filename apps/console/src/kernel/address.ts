import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { withoutKeySecrets } from './key-name.ts';

/** The filters of a screen stand in its address, under the names that the API has for them. */
export const useFilters = () => {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const filters = useMemo(() => new URLSearchParams(search), [search]);
  /** Each by its name; null or empty takes the filter away. */
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

/** The form for a new one, which a link to `?new=` opens, too: others may lead there. */
export const useNew = () => {
  const { filters, set } = useFilters();
  const [isNew, setNew] = useState(() => filters.has('new'));
  const end = (): void => {
    setNew(false);
    if (filters.has('new')) set('new', null);
  };
  return { isNew, begin: () => setNew(true), end };
};

/** Where a press on a row leads, with what follows `/app`. */
const SCREEN_OF_ID: Readonly<Record<string, string>> = {
  act: 'actions',
  apr: 'approvals',
  agt: 'agents',
  pol: 'policies',
  con: 'connectors',
  deed: 'deeds',
  whk: 'settings',
};

/** The page of an id that somebody pasted; null for what has none. */
export const placeOfId = (text: string): string | null => {
  const [, whole, prefix] = /^((act|apr|agt|pol|con|deed|whk)_[0-7][0-9a-hjkmnp-tv-z]{25})$/.exec(text.trim()) ?? [];
  return whole === undefined || prefix === undefined ? null : `/${SCREEN_OF_ID[prefix] ?? ''}/${whole}`;
};
