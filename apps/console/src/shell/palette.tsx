import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { everyAgent } from '../agents/queries.ts';
import { useWaitingApprovals } from '../approvals/queries.ts';
import { everyConnector } from '../connectors/queries.ts';
import { Icon } from '../design/icon.tsx';
import { placeOfId } from '../kernel/address.ts';
import { keyNameIn } from '../kernel/key-name.ts';
import { plain } from '../kernel/said.ts';
import { isAtLeast } from '../kernel/roles.ts';
import { useSession } from '../kernel/session.tsx';
import { Dialog } from '../kit/dialog.tsx';
import kit from '../kit/kit.module.css';
import { SECTIONS } from '../people/sections.ts';
import { type Found, useFoundOfKey } from './found-of-key.ts';
import { SCREENS } from './screens.ts';
import styles from './shell.module.css';

const RESULTS_MAX = 12;

const useFound = (text: string): readonly Found[] => {
  const own = useSession().me.membership.role;
  const { data: agents } = useQuery(everyAgent);
  const { data: connectors } = useQuery(everyConnector);
  const { data: waiting } = useWaitingApprovals();
  const ofKey = useFoundOfKey(keyNameIn(text));
  return useMemo(() => {
    const place = placeOfId(text);
    if (place !== null) return [{ icon: 'right', name: text.trim(), kind: 'pasted id', path: place }];
    const next = waiting?.data.find(({ you }) => you?.eligible === true);
    const all: readonly Found[] = [
      ...(next === undefined
        ? []
        : [{ icon: 'checks' as const, name: 'Approve next', kind: plain(next.tool), path: `/approvals/${next.id}` }]),
      ...SCREENS.map(({ icon, name, path }) => ({ icon, name, kind: 'screen', path })),
      ...(agents?.data ?? []).map(({ id, name }) => ({
        icon: 'robot' as const,
        name: plain(name),
        kind: 'agent',
        path: `/agents/${id}`,
      })),
      ...(connectors?.data ?? []).map(({ id, name }) => ({
        icon: 'plug' as const,
        name,
        kind: 'connector',
        path: `/connectors/${id}`,
      })),
      // The sections of settings come last: typing finds them, and they crowd no screen out of the short list before
      // that.
      ...SECTIONS.filter(({ role }) => isAtLeast(own, role)).map(({ id, name }) => ({
        icon: 'sliders' as const,
        name,
        kind: 'settings',
        path: `/settings/${id}`,
      })),
    ];
    const wanted = text.trim().toLowerCase();
    return [...all.filter(({ name }) => name.toLowerCase().includes(wanted)), ...ofKey].slice(0, RESULTS_MAX);
  }, [text, agents, connectors, waiting, own, ofKey]);
};

/** The command palette: finds screens, names and ids as one types. A combobox with a list, as WAI-ARIA describes it. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const found = useFound(text);
  const id = useId();
  const chosen = Math.min(at, found.length - 1);
  const go = (one: Found | undefined): void => {
    if (one === undefined) return;
    onClose();
    navigate(one.path);
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        className={kit['field']}
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
        aria-label="Screen, agent, connector, key or id"
        placeholder="Screen, agent, connector, key or id"
        data-first
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setAt((chosen + step + found.length) % Math.max(1, found.length));
          }
          if (event.key === 'Enter') {
            event.preventDefault();
            go(found[chosen]);
          }
        }}
      />
      <ul className={styles['found']} id={id} role="listbox" aria-label="Results">
        {found.map((one, index) => (
          <li
            key={`${one.kind}${one.path}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => go(one)}
          >
            <Icon name={one.icon} />
            <bdi>{one.name}</bdi>
            <small>
              <bdi>{one.kind}</bdi>
            </small>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p role="status">No results. Ids must be pasted in full.</p> : null}
    </Dialog>
  );
};
