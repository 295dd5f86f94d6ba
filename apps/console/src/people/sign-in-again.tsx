import { ApiError } from '../kernel/errors.ts';
import styles from './settings.module.css';

/** The way on from a change that was refused because its person signed in too long ago; nothing where it was not. */
export const SignInAgain = ({
  error,
  to,
  then,
}: {
  readonly error: unknown;
  /** The page that is wanted again. */
  readonly to: string;
  /** What to do there, after “then”. */
  readonly then: string;
}) =>
  error instanceof ApiError && error.code === 'recent_sign_in_required' ? (
    <p>
      <a className={styles['inText']} href={`/login?next=${encodeURIComponent(to)}`}>
        Sign in again
      </a>
      , then {then}.
    </p>
  ) : null;
