import { ApiError } from '../kernel/errors.ts';
import { Button, Id } from './kit.tsx';
import styles from './kit.module.css';

/** An error, in the service's words, with its request id and a button to retry if the caller offers that. */
export const Failure = ({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) => {
  const known = error instanceof ApiError ? error : null;
  return (
    <div className={styles['notice']} role="alert">
      <strong>{known?.message ?? 'Something went wrong in this page. Reload it.'}</strong>
      <div className={styles['noticeMore']}>
        {known === null ? null : <code>{known.code}</code>}
        {known?.requestId === null || known?.requestId === undefined ? null : <Id id={known.requestId} isWhole />}
        {known?.docUrl === null || known?.docUrl === undefined ? null : (
          <a href={known.docUrl} target="_blank" rel="noreferrer">
            Learn more
          </a>
        )}
        {onRetry === undefined ? null : (
          <Button isSmall onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
};

/** Tells that a list was behind the event log when it was read; nothing if it was up to date. */
export const Lag = ({ events }: { readonly events: number }) =>
  events === 0 ? null : (
    <p className={styles['dim']} role="status">
      The list is {events} {events === 1 ? 'event' : 'events'} behind. The list catches up automatically.
    </p>
  );
