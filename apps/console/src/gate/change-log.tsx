import type { ReactNode } from 'react';
import { size } from '../kernel/sizes.ts';
import { Id, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import {
  type Cell,
  cellsOf,
  type ChangeLogEvidence,
  doneTo,
  keyOfRow,
  type LoggedRow,
  ROWS_MAX,
  rowsLeftOut,
  type Shown,
  withoutOldRows,
} from './changed-rows.ts';
import styles from './gate.module.css';

/** So many rows are unfolded at first. */
const OPEN_ROWS = 3;
/** Into how many elements one value may be split: there are many on the page. */
const PIECES_OF_VALUE = 60;
const TABLES_SHOWN = 20;

/** What the change log of a database shows of a call: the tables, then each changed row before and after. */
export const ChangeLog = ({ evidence }: { readonly evidence: ChangeLogEvidence }) => {
  const rows = (evidence.rows ?? []).slice(0, ROWS_MAX);
  const more = rowsLeftOut(evidence);
  const partial = withoutOldRows(evidence);
  return (
    <>
      <Tables evidence={evidence} />
      {rows.length === 0 ? null : (
        <ol className={styles['rows']} aria-label="Changed rows">
          {rows.map((row, index) => (
            <li key={index}>
              <Row row={row} evidence={evidence} isOpen={index < OPEN_ROWS} />
            </li>
          ))}
        </ol>
      )}
      {more === 0 ? null : (
        <p>
          and {more.toLocaleString('en')} more {more === 1 ? 'row' : 'rows'}, of which only the number is kept.
        </p>
      )}
      {partial.length === 0 ? null : (
        <p className={kit['dim']}>
          Of <Said text={partial.join(', ')} /> the log holds no whole old rows: with <code>REPLICA IDENTITY FULL</code>{' '}
          it does.
        </p>
      )}
      <p className={kit['dim']}>
        Committed <Time at={evidence.committed_at} isExact /> by the clock of the database, at{' '}
        <code>
          <Said text={evidence.commit_lsn} />
        </code>{' '}
        of its log.
      </p>
    </>
  );
};

const Tables = ({ evidence: { tables, tables_left_out: leftOut } }: { readonly evidence: ChangeLogEvidence }) => {
  if (tables.length === 0) return null;
  const more = Math.max(0, tables.length - TABLES_SHOWN) + leftOut;
  return (
    <ul className={styles['reasons']} aria-label="Changed tables">
      {tables.slice(0, TABLES_SHOWN).map((counts) => (
        <li key={counts.table}>
          <code>
            <Said text={counts.table} />
          </code>
          : {doneTo(counts)}
        </li>
      ))}
      {more === 0 ? null : (
        <li>
          {more.toLocaleString('en')} more {more === 1 ? 'table' : 'tables'}
        </li>
      )}
    </ul>
  );
};

const KINDS = { insert: 'inserted', update: 'updated', delete: 'deleted' } as const;

interface RowProps {
  readonly row: LoggedRow;
  readonly evidence: ChangeLogEvidence;
}

const Row = ({ row, evidence, isOpen }: RowProps & { readonly isOpen: boolean }) => {
  const cells = cellsOf(row, evidence);
  const key = keyOfRow(row, evidence);
  return (
    <details className={styles['row']} open={isOpen}>
      <summary>
        <code>
          <Said text={row.table} />
        </code>
        {key === '' ? null : (
          <>
            {' '}
            <code>
              <Said text={key} />
            </code>
          </>
        )}{' '}
        {KINDS[row.kind]}
      </summary>
      <Values kind={row.kind} cells={cells} />
    </details>
  );
};

const Values = ({ kind, cells }: { readonly kind: LoggedRow['kind']; readonly cells: readonly Cell[] }) => (
  <div className={styles['values']} tabIndex={0} role="group" aria-label="Values of the row">
    <table className={styles['compare']}>
      <thead>
        <tr>
          <th scope="col">Column</th>
          {kind === 'insert' ? null : <th scope="col">Before</th>}
          {kind === 'delete' ? null : <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {cells.map((cell) => (
          <tr key={cell.column} data-changed={cell.isChanged === true ? '' : undefined}>
            <th scope="row">
              <code>
                <Said text={cell.column} />
              </code>
              {cell.isKey ? <small> key</small> : null}
              {cell.isChanged === true ? <small> changed</small> : null}
            </th>
            {kind === 'insert' ? null : <td>{shown(cell.before)}</td>}
            {kind === 'delete' ? null : <td>{shown(cell.after)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const shown = (value: Shown): ReactNode => {
  switch (value.is) {
    case 'text':
      return value.text === '' ? (
        <em>empty text</em>
      ) : (
        <code>
          <Said text={value.text} isMultiline max={PIECES_OF_VALUE} />
        </code>
      );
    case 'null':
      return <em>NULL</em>;
    case 'unchanged':
      return <em>long value, unchanged</em>;
    case 'absent':
      return <em>not in the log</em>;
    case 'no_row':
      return <em>no row</em>;
    case 'cut':
      return (
        <>
          <code>
            <Said text={value.begins} isMultiline max={PIECES_OF_VALUE} />…
          </code>
          <small className={styles['cut']}>
            cut: {size(value.bytes)} in all, <Id id={value.digest} />
          </small>
        </>
      );
  }
};
