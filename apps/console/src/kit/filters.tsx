import { useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { useFilters } from '../kernel/address.ts';
import { serverNow } from '../kernel/clock.ts';
import { Menu } from './dialog.tsx';
import { Said } from './kit.tsx';
import styles from './kit.module.css';

/** A filter with a few values, several of which may hold: `decision=deny,require_approval` in the address. */
export const ChoiceChip = ({
  name,
  label = name,
  choices,
  isSingle = false,
}: {
  readonly name: string;
  readonly label?: string;
  readonly choices: readonly (readonly [value: string, word: string])[];
  readonly isSingle?: boolean;
}) => {
  const { filters, set } = useFilters();
  const chosen = (filters.get(name) ?? '').split(',').filter((value) => value !== '');
  const words = choices.filter(([value]) => chosen.includes(value)).map(([, word]) => word);
  const toggle = (value: string): void => {
    const rest = chosen.filter((other) => other !== value);
    const next = chosen.includes(value) ? rest : isSingle ? [value] : [...rest, value];
    set(name, next.join(','));
  };
  return (
    <Menu
      button={({ popoverTarget }) => (
        <button
          type="button"
          className={styles['chip']}
          data-on={words.length > 0 ? '' : undefined}
          popoverTarget={popoverTarget}
        >
          <Icon name="filter" size={14} />
          {words.length === 0 ? label : `${label}: ${words.join(', ')}`}
        </button>
      )}
    >
      {choices.map(([value, word]) => (
        <button key={value} type="button" aria-pressed={chosen.includes(value)} onClick={() => toggle(value)}>
          {chosen.includes(value) ? <Icon name="check" /> : null}
          {word}
        </button>
      ))}
    </Menu>
  );
};

/** A filter that came with a link, with a way to take it away. */
export const GivenChip = ({ name, label }: { readonly name: string; readonly label: string }) => {
  const { filters, set } = useFilters();
  const value = filters.get(name);
  if (value === null) return null;
  return (
    <button type="button" className={styles['chip']} data-on="" onClick={() => set(name, null)}>
      {label}: <Said text={value} />
      <Icon name="cross" size={14} />
      <span className="visually-hidden">take this filter away</span>
    </button>
  );
};

const PRESETS: readonly (readonly [hours: number, word: string])[] = [
  [1, 'the last hour'],
  [24, 'the last 24 hours'],
  [168, 'the last 7 days'],
  [720, 'the last 30 days'],
];

/** Presets become instants: the link means the same tomorrow. */
export const SinceChip = ({ name, label }: { readonly name: string; readonly label: string }) => {
  const { filters, set } = useFilters();
  if (filters.has(name)) return <GivenChip name={name} label={label} />;
  return (
    <Menu
      button={({ popoverTarget }) => (
        <button type="button" className={styles['chip']} popoverTarget={popoverTarget}>
          <Icon name="filter" size={14} />
          {label}
        </button>
      )}
    >
      {PRESETS.map(([hours, word]) => (
        <button
          key={hours}
          type="button"
          onClick={() => set(name, new Date(Math.floor(serverNow()) - hours * 3_600_000).toISOString())}
        >
          {word}
        </button>
      ))}
    </Menu>
  );
};

/** Text to search for. It is asked for by Enter, or when the field is left. */
export const SearchField = ({ name, label }: { readonly name: string; readonly label: string }) => {
  const { filters, set } = useFilters();
  const given = filters.get(name) ?? '';
  const [text, setText] = useState(given);
  const [known, setKnown] = useState(given);
  if (known !== given) {
    setKnown(given);
    setText(given);
  }
  const isShort = text.trim().length === 1;
  const ask = (): void => {
    if (!isShort && text.trim() !== given) set(name, text.trim());
  };
  return (
    <>
      <input
        type="search"
        className={styles['search']}
        aria-label={label}
        aria-invalid={isShort}
        placeholder={label}
        maxLength={64}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={ask}
        onKeyDown={({ key }) => {
          if (key === 'Enter') ask();
        }}
      />
      {isShort ? <span className={styles['dim']}>two characters at least</span> : null}
    </>
  );
};
