import { useFilters } from '../kernel/address.ts';
import styles from './kit.module.css';

/** Buttons for one of a few values. The chosen value is in the address, unless it is the default. */
export const Segments = <Value extends string>({
  name,
  label,
  choices,
  chosen,
  byDefault,
}: {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: Value, word: string])[];
  readonly chosen: Value;
  readonly byDefault: Value;
}) => {
  const { set } = useFilters();
  return (
    <div className={styles['segments']} role="group" aria-label={label}>
      {choices.map(([value, word]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          onClick={() => set(name, value === byDefault ? null : value)}
        >
          {word}
        </button>
      ))}
    </div>
  );
};
