import { Link } from 'wouter';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import chart from '../kit/chart.module.css';
import styles from './insights.module.css';
import { type By, keyOf, type Line, listOf, type Part } from './stats.ts';

interface Span {
  readonly from: string;
  readonly to: string;
}

interface Props {
  readonly by: By;
  readonly lines: readonly Line[];
  /** The sum of the lines that are not listed; null if all are listed. */
  readonly others: Line | null;
  readonly parts: readonly Part[];
  readonly span: Span;
  readonly names: ReadonlyMap<string, string> | undefined;
}

const HEADS = { day: 'Day', rule: 'Rule', tool: 'Tool', agent: 'Agent' } as const;

/** A table of the counts; each count links to the list of its actions. */
export const LinesTable = ({ by, lines, others, parts, span, names }: Props) => (
  <table className={styles['lines']}>
    <thead>
      <tr>
        <th scope="col">{HEADS[by]}</th>
        <th scope="col" data-number>
          All
        </th>
        {parts.map(({ name }) => (
          <th key={name} scope="col" data-number>
            {name}
          </th>
        ))}
        {by === 'day' ? null : <th scope="col">Shares</th>}
      </tr>
    </thead>
    <tbody>
      {lines.map((line) => (
        <tr key={keyOf(line)}>
          <th scope="row">
            <About line={line} by={by} names={names} />
          </th>
          <Numbers line={line} parts={parts} span={span} />
          {by === 'day' ? null : <Shares line={line} parts={parts} />}
        </tr>
      ))}
      {others === null ? null : (
        <tr>
          <th scope="row">All others</th>
          <Numbers line={others} parts={parts} span={null} />
          {by === 'day' ? null : <Shares line={others} parts={parts} />}
        </tr>
      )}
    </tbody>
  </table>
);

const About = ({ line, by, names }: { readonly line: Line; readonly by: By; readonly names: Props['names'] }) => {
  switch (by) {
    case 'day':
      return line.day;
    case 'agent':
      return (
        <Link href={`/agents/${line.agent ?? ''}`}>
          <Said text={names?.get(line.agent ?? '') ?? line.agent ?? ''} />
        </Link>
      );
    case 'rule':
      return line.rule_id === null || line.rule_id === undefined ? (
        <span className={kit['dim']}>no rule (default, budget or Stop)</span>
      ) : (
        <code>
          <Said text={line.rule_id} />
        </code>
      );
    case 'tool':
      return (
        <code>
          <Said text={line.tool ?? ''} />
        </code>
      );
  }
};

const Numbers = ({
  line,
  parts,
  span,
}: {
  readonly line: Line;
  readonly parts: readonly Part[];
  readonly span: Span | null;
}) => (
  <>
    <td data-label="All">
      <Count value={line.total} list={span && listOf(line, null, span)} what="all" />
    </td>
    {parts.map((part) => (
      <td key={part.name} data-label={part.name}>
        <Count
          value={part.count(line)}
          list={span && listOf(line, part, span)}
          what={part.name.toLowerCase()}
          note={noteOf(line, part)}
        />
      </td>
    ))}
  </>
);

/** Parts of a count that no list of actions can be filtered by, in words. */
const noteOf = (line: Line, { name }: Part): string => {
  const count = (member: string): number => Number(line[member] ?? 0);
  const said =
    name === 'Denied'
      ? [
          ['by budget', count('denied_by_budget')],
          ['by Stop', count('denied_by_stop')],
        ]
      : name === 'Approval required'
        ? [['denied by a person', count('refused_by_person')]]
        : [];
  return said.flatMap(([word, number]) => (number === 0 ? [] : [`${number} ${word}`])).join(', ');
};

const Count = ({
  value,
  list,
  what,
  note = '',
}: {
  readonly value: number;
  readonly list: string | null;
  readonly what: string;
  readonly note?: string;
}) => {
  if (value === 0) {
    return (
      <span className={kit['dim']} data-none>
        0
      </span>
    );
  }
  const shown = value.toLocaleString('en');
  return (
    <>
      {list === null ? (
        shown
      ) : (
        <Link href={list}>
          {shown}
          <span className="visually-hidden"> {what}: view actions</span>
        </Link>
      )}
      {note === '' ? null : <small> ({note})</small>}
    </>
  );
};

/** The shares of a line's parts as a bar of full width, whatever the line's total. */
const Shares = ({ line, parts }: { readonly line: Line; readonly parts: readonly Part[] }) => {
  let at = 0;
  return (
    <td className={styles['shares']}>
      <svg height={10} aria-hidden="true">
        {parts.map((part) => {
          const share = line.total === 0 ? 0 : (part.count(line) / line.total) * 100;
          const x = at;
          at += share;
          return share === 0 ? null : (
            <rect
              key={part.name}
              x={`${x}%`}
              width={`${share}%`}
              height={10}
              className={chart['part']}
              data-tone={part.tone}
            />
          );
        })}
      </svg>
    </td>
  );
};
