import { Button } from './kit.tsx';
import styles from './kit.module.css';

/** The end of a list: a button for the next page, or that there is none. */
export const ListFoot = ({
  hasNextPage,
  isFetchingNextPage,
  isFull,
  fetchNextPage,
}: {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFull: boolean;
  readonly fetchNextPage: () => unknown;
}) => {
  if (isFull) return <p className={styles['dim']}>Only 500 rows are shown. Use a filter to find older ones.</p>;
  if (!hasNextPage) return null;
  return (
    <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {isFetchingNextPage ? 'Loading …' : 'Show older'}
    </Button>
  );
};

/** Offers the new rows above a list. They are shown only by a press, so that no row moves under a finger. */
export const NewRows = ({
  count,
  what,
  isFiltered,
  onShow,
}: {
  readonly count: number;
  readonly what: string;
  readonly isFiltered: boolean;
  readonly onShow: () => void;
}) =>
  count === 0 ? null : (
    <Button className={styles['news']} icon="activity" onClick={onShow}>
      {isFiltered ? `new ${what}` : `${count} new`}
    </Button>
  );
