import styles from './chart.module.css';

export type ChartTone = 'accent' | 'ok' | 'warn' | 'bad' | 'quiet';

/** The meaning of each colour in a chart. Hidden from screen readers, which read the same in the table. */
export const Legend = ({
  parts,
}: {
  readonly parts: readonly { readonly name: string; readonly tone: ChartTone }[];
}) => (
  <ul className={styles['legend']} aria-hidden="true">
    {parts.map(({ name, tone }) => (
      <li key={name}>
        <i data-tone={tone} /> {name}
      </li>
    ))}
  </ul>
);
