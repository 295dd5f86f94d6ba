import type { Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import chart from '../kit/chart.module.css';
import styles from './overview.module.css';

const HEIGHT = 120;

/** A bar chart with positions in percentages, and the same numbers as a table for screen readers. */
export const Bars = ({ overview }: { readonly overview: Schemas['Overview'] }) => {
  const { times } = useSession();
  const { buckets } = overview.actions;
  const most = Math.max(1, ...buckets.map(({ total }) => total));
  const wide = 100 / Math.max(1, buckets.length);
  const isDays = overview.window === '7d';
  const when = (start: string): string => (isDays ? `${times.date(start)}, ${times.hour(start)}` : times.hour(start));
  return (
    <div>
      <svg className={chart['bars']} height={HEIGHT} role="img" aria-label="Actions over time, as in the table below">
        <line x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={chart['axis']} />
        {buckets.map(({ start, total, blocked }, index) => (
          <g key={start}>
            <title>{`${when(start)}: ${total} submitted, ${blocked} blocked`}</title>
            <rect x={`${index * wide}%`} y={0} width={`${wide}%`} height={HEIGHT} className={chart['hit']} />
            <Bar at={index * wide} wide={wide} high={(total / most) * (HEIGHT - 8)} kind="total" />
            <Bar at={index * wide} wide={wide} high={(blocked / most) * (HEIGHT - 8)} kind="blocked" />
          </g>
        ))}
      </svg>
      <div className={chart['ticks']} aria-hidden="true">
        <span>{buckets[0] === undefined ? '' : when(buckets[0].start)}</span>
        <span>highest: {most === 1 && buckets.every(({ total }) => total === 0) ? 0 : most}</span>
        <span>now</span>
      </div>
      <details>
        <summary>View as table</summary>
        <table className={styles['numbersTable']}>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Submitted</th>
              <th scope="col">Blocked</th>
            </tr>
          </thead>
          <tbody>
            {buckets.map(({ start, total, blocked }) => (
              <tr key={start}>
                <th scope="row">{when(start)}</th>
                <td>{total}</td>
                <td>{blocked}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
};

const Bar = ({
  at,
  wide,
  high,
  kind,
}: {
  readonly at: number;
  readonly wide: number;
  readonly high: number;
  readonly kind: 'total' | 'blocked';
}) =>
  high === 0 ? null : (
    <rect
      x={`${at + wide * 0.15}%`}
      width={`${wide * 0.7}%`}
      y={HEIGHT - Math.max(2, high)}
      height={Math.max(2, high)}
      rx={2}
      className={chart['part']}
      data-tone={kind === 'total' ? 'accent' : 'bad'}
    />
  );
