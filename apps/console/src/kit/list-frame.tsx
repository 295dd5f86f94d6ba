import type { ReactNode } from 'react';
import { useFilters } from '../kernel/address.ts';
import type { useFilteredList } from '../kernel/filtered-list.ts';
import { plain } from '../kernel/said.ts';
import { Failure, Lag } from './failure.tsx';
import { Bones, Button, cx, Empty, Warning } from './kit.tsx';
import styles from './kit.module.css';
import { ListFoot, NewRows } from './list-foot.tsx';

/**
 * What surrounds the rows of every list: filters, the offer of new rows, and the content for loading, errors and empty
 * lists.
 */
export const ListFrame = ({
  list,
  one,
  chips,
  bones = 8,
  none,
  nothing = null,
  children,
}: {
  readonly list: ReturnType<typeof useFilteredList>;
  /** What a row is, in one word, in the singular. */
  readonly one: string;
  readonly chips?: ReactNode;
  /** The number of placeholder rows while the list is loaded for the first time. */
  readonly bones?: number;
  /** Shown if the list is empty without any filter. */
  readonly none: ReactNode;
  /** Shown with the offer to clear the filters, if they match nothing. */
  readonly nothing?: ReactNode;
  readonly children: ReactNode;
}) => (
  <>
    <div className={styles['tools']}>
      <div className={styles['chips']}>
        {chips}
        {list.isFiltered ? (
          <button type="button" className={styles['clear']} onClick={list.clearFilters}>
            Clear all
          </button>
        ) : null}
      </div>
      {list.unknown.length === 0 ? null : <Unknown names={list.unknown} />}
      <Lag events={list.lag} />
    </div>
    {list.fillsItself ? null : (
      <NewRows count={list.newCount} what={`${one}s`} isFiltered={list.isFiltered} onShow={list.showNew} />
    )}
    {list.error !== null ? (
      <Failure error={list.error} onRetry={() => void list.refetch()} />
    ) : list.isPending ? (
      <Bones count={bones} />
    ) : list.rows.length > 0 ? (
      <div className={cx(styles['panel'], styles['listPanel'])}>{children}</div>
    ) : list.isFiltered ? (
      <Empty title={`No ${one}s match these filters`}>
        {nothing}
        <Button onClick={list.clearFilters}>Clear filters</Button>
      </Empty>
    ) : (
      none
    )}
    <div className={styles['foot']}>
      <ListFoot {...list} />
    </div>
  </>
);

/**
 * Warns of names in the address that are no filters, as of a mistyped link or another version: the list would otherwise
 * look filtered.
 */
const Unknown = ({ names }: { readonly names: readonly string[] }) => {
  const { change } = useFilters();
  return (
    <Warning>
      Unknown filter {names.map((name) => `“${plain(name)}”`).join(', ')}. The rows below are not filtered by it.{' '}
      <Button isSmall onClick={() => change(Object.fromEntries(names.map((name) => [name, null])))}>
        Remove it from the address
      </Button>
    </Warning>
  );
};
