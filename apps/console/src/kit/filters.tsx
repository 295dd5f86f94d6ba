import { type ReactNode, useId, useRef, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { useFilters } from '../kernel/address.ts';
import { serverNow } from '../kernel/clock.ts';
import { SEARCH_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { useSession } from '../kernel/session.tsx';
import { Menu } from './dialog.tsx';
import { Button, cx, Said } from './kit.tsx';
import styles from './kit.module.css';

/** The button that opens a filter, and, if a value is chosen, another that clears it. */
const Chip = ({
  label,
  value,
  popoverTarget,
  onClear,
}: {
  readonly label: string;
  /** The chosen value, in words; null if none is chosen. */
  readonly value: string | null;
  readonly popoverTarget: string;
  readonly onClear: () => void;
}) => {
  const opener = (
    <button
      type="button"
      className={styles['chip']}
      data-on={value === null ? undefined : ''}
      popoverTarget={popoverTarget}
    >
      <Icon name="filter" size={14} />
      {value === null ? (
        label
      ) : (
        <span className={styles['chipText']}>
          {label}: <Said text={value} />
        </span>
      )}
    </button>
  );
  if (value === null) return opener;
  return (
    <span className={styles['chosen']}>
      {opener}
      <button type="button" className={styles['chip']} data-on="" onClick={onClear}>
        <Icon name="cross" size={14} />
        <span className="visually-hidden">Any {label}</span>
      </button>
    </span>
  );
};

/** The choices for a closed set of the API: a value that has no words does not compile. */
export const choicesOf = <Value extends string>(words: Readonly<Record<Value, string>>) =>
  Object.entries<string>(words);

/** A filter with a few values, of which several can be chosen: `decision=deny,require_approval` in the address. */
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
  const words = chosen.map((value) => choices.find(([known]) => known === value)?.[1] ?? value);
  const toggle = (value: string): void => {
    const rest = chosen.filter((other) => other !== value);
    const next = chosen.includes(value) ? rest : isSingle ? [value] : [...rest, value];
    set(name, next.join(','));
  };
  return (
    <Menu
      button={({ popoverTarget }) => (
        <Chip
          label={label}
          value={words.length === 0 ? null : words.join(', ')}
          popoverTarget={popoverTarget}
          onClear={() => set(name, null)}
        />
      )}
    >
      {choices.map(([value, word]) => (
        <button key={value} type="button" aria-pressed={chosen.includes(value)} onClick={() => toggle(value)}>
          {chosen.includes(value) ? <Icon name="check" /> : null}
          <Said text={word} />
        </button>
      ))}
    </Menu>
  );
};

/** A filter with a form in a popover, which stays open while one types. */
const FormChip = ({
  label,
  value,
  onClear,
  onGiven,
  children,
}: {
  readonly label: string;
  readonly value: string | null;
  readonly onClear: () => void;
  readonly onGiven: (fields: FormData) => void;
  readonly children: ReactNode;
}) => {
  const id = useId();
  const ref = useRef<HTMLFormElement>(null);
  return (
    <>
      <Chip label={label} value={value} popoverTarget={id} onClear={onClear} />
      <form
        id={id}
        ref={ref}
        popover="auto"
        className={cx(styles['menu'], styles['menuForm'])}
        aria-label={label}
        onSubmit={(event) => {
          event.preventDefault();
          ref.current?.hidePopover();
          onGiven(new FormData(event.currentTarget));
        }}
      >
        {children}
        <Button kind="primary" type="submit">
          Apply
        </Button>
      </form>
    </>
  );
};

const textIn = (fields: FormData, name: string): string => {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
};

/**
 * A filter by a text that has to match as a whole.
 * @param hint the label of its text field
 */
export const TextChip = ({
  name,
  label,
  hint,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
}) => {
  const { filters, set } = useFilters();
  const value = filters.get(name);
  return (
    <FormChip
      label={label}
      value={value}
      onClear={() => set(name, null)}
      onGiven={(fields) => set(name, textIn(fields, 'value'))}
    >
      <label className={styles['label']}>
        {hint}
        <input
          key={value}
          className={styles['field']}
          name="value"
          defaultValue={value ?? ''}
          maxLength={256}
          required
        />
      </label>
    </FormChip>
  );
};

/**
 * The filters of a list that have no chip of their own, and are set by links only.
 * @param names all filters of the list
 * @param except those with a chip; a range of time by its name alone
 */
export const GivenChips = ({
  names,
  except,
}: {
  readonly names: readonly string[];
  readonly except: readonly string[];
}) =>
  names
    .filter((name) => !except.includes(name.replace(/\[\w+\]$/, '')))
    .map((name) => <GivenChip key={name} name={name} label={name.replaceAll('_', ' ')} />);

/** Shows the value of a filter, and removes it. */
const GivenChip = ({ name, label }: { readonly name: string; readonly label: string }) => {
  const { filters, set } = useFilters();
  const value = filters.get(name);
  if (value === null) return null;
  return (
    <button type="button" className={styles['chip']} data-on="" onClick={() => set(name, null)}>
      {label}: <Said text={value} />
      <Icon name="cross" size={14} />
      <span className="visually-hidden">remove this filter</span>
    </button>
  );
};

const PRESETS: readonly (readonly [hours: number, word: string])[] = [
  [1, 'The last hour'],
  [24, 'The last 24 hours'],
  [168, 'The last 7 days'],
  [720, 'The last 30 days'],
];

/**
 * A filter by a range of time, entered in the organization's zone. The address holds instants, so that a link means the
 * same later, and elsewhere.
 */
export const TimeChip = ({ name }: { readonly name: string }) => {
  const { filters, change } = useFilters();
  const { times } = useSession();
  const [from, until] = [`${name}[gte]`, `${name}[lt]`];
  const [given, end] = [filters.get(from), filters.get(until)];
  const told = (at: string | null): string =>
    at === null || Number.isNaN(Date.parse(at)) ? (at ?? '') : times.short(at, serverNow());
  const local = (at: string | null): string => (at === null || Number.isNaN(Date.parse(at)) ? '' : times.local(at));
  const value =
    given === null && end === null
      ? null
      : [given === null ? '' : `from ${told(given)}`, end === null ? '' : `until ${told(end)}`].join(' ').trim();
  const since = (hours: number): void =>
    change({ [from]: new Date(Math.floor(serverNow()) - hours * 3_600_000).toISOString(), [until]: null });
  return (
    <FormChip
      label="time"
      value={value}
      onClear={() => change({ [from]: null, [until]: null })}
      onGiven={(fields) =>
        change({
          [from]: times.instantOf(textIn(fields, 'from')),
          [until]: times.instantOf(textIn(fields, 'until')),
        })
      }
    >
      {PRESETS.map(([hours, word]) => (
        <button
          key={hours}
          type="button"
          onClick={({ currentTarget }) => {
            currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
            since(hours);
          }}
        >
          {word}
        </button>
      ))}
      {(
        [
          ['from', 'From', given],
          ['until', 'Until', end],
        ] as const
      ).map(([field, word, at]) => (
        <label key={field} className={styles['label']}>
          {word}, {times.zoneName(serverNow())}
          <input key={at} type="datetime-local" className={styles['field']} name={field} defaultValue={local(at)} />
        </label>
      ))}
    </FormChip>
  );
};

/** A search field. The search starts on Enter, or if the field loses the focus. */
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
        maxLength={SEARCH_TEXT_MAX_LENGTH}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={ask}
        onKeyDown={({ key }) => {
          if (key === 'Enter') ask();
        }}
      />
      {isShort ? <span className={styles['dim']}>at least two characters</span> : null}
    </>
  );
};
