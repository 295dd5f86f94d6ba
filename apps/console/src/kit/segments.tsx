import { useFilters } from '../kernel/address.ts';
import styles from './kit.module.css';

/** One of a few, which stands in the address; what is so by default does not. */
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
