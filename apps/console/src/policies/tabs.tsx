import { type ReactNode, useId, useRef, useState } from 'react';
import styles from './policies.module.css';

export interface Tab {
  readonly name: string;
  readonly word: string;
  readonly content: () => ReactNode;
}

/** Tabs as WAI-ARIA describes them. A panel stays mounted once it has been shown, so that it keeps its state. */
export const Tabs = ({
  label,
  tabs,
  shown,
  onShow,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly shown: string;
  readonly onShow: (name: string) => void;
}) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<readonly string[]>([shown]);
  if (!visited.includes(shown)) setVisited([...visited, shown]);
  const step = (by: number): void => {
    const at = tabs.findIndex(({ name }) => name === shown);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onShow(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };
  return (
    <section className={styles['tools']} aria-label={label}>
      <div ref={list} className={styles['tabs']} role="tablist" aria-label={label}>
        {tabs.map(({ name, word }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={name === shown}
            aria-controls={`${id}-${name}-panel`}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => onShow(name)}
            onKeyDown={(event) => {
              const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (by === undefined) return;
              event.preventDefault();
              step(by);
            }}
          >
            {word}
          </button>
        ))}
      </div>
      {tabs.map(({ name, content }) => (
        <div
          key={name}
          role="tabpanel"
          id={`${id}-${name}-panel`}
          aria-labelledby={`${id}-${name}`}
          className={styles['tool']}
          hidden={name !== shown}
        >
          {visited.includes(name) ? content() : null}
        </div>
      ))}
    </section>
  );
};
