import chart from '../kit/chart.module.css';
import styles from './insights.module.css';
import { type Line, type Part } from './stats.ts';

const HEIGHT = 140;
const ROOM = 8;

/** A stacked bar for each day. The table below has the same numbers. */
export const DayBars = ({
  lines,
  parts,
  title,
}: {
  readonly lines: readonly Line[];
  readonly parts: readonly Part[];
  readonly title: string;
}) => {
  const most = Math.max(1, ...lines.map(({ total }) => total));
  const wide = 100 / Math.max(1, lines.length);
  return (
    <div className={styles['chart']}>
      <svg className={chart['bars']} height={HEIGHT} role="img" aria-label={`${title}, by day, as in the table below`}>
        <line x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className={chart['axis']} />
        {lines.map((line, index) => (
          <g key={line.day}>
            <title>{told(line, parts)}</title>
            <rect x={`${index * wide}%`} y={0} width={`${wide}%`} height={HEIGHT} className={chart['hit']} />
            {stacked(line, parts, most).map(({ name, tone, y, high }) => (
              <rect
                key={name}
                x={`${(index + 0.15) * wide}%`}
                width={`${wide * 0.7}%`}
                y={y}
                height={high}
                className={chart['part']}
                data-tone={tone}
              />
            ))}
          </g>
        ))}
      </svg>
      <div className={chart['ticks']} aria-hidden="true">
        <span>{lines[0]?.day}</span>
        <span>highest: {most}</span>
        <span>today</span>
      </div>
    </div>
  );
};

const told = (line: Line, parts: readonly Part[]): string =>
  `${line.day ?? ''}: ${[`${line.total} in all`, ...parts.map(({ name, count }) => `${count(line)} ${name.toLowerCase()}`)].join(', ')}`;

/** The parts of one bar from the bottom up. A part that is not zero is at least 2 units high, so that it is visible. */
const stacked = (line: Line, parts: readonly Part[], most: number) => {
  const drawn = parts.filter(({ count }) => count(line) > 0);
  const scale = (HEIGHT - ROOM) / most;
  let y = HEIGHT;
  return drawn.map(({ name, tone, count }) => {
    const high = Math.max(2, count(line) * scale);
    y -= high;
    return { name, tone, y, high };
  });
};
