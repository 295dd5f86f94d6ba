import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { useSession } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, cx, Id } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Check, GivenDeed } from './check-deed.ts';
import styles from './deed-check.module.css';
import { checksQuery, proofQuery, type ReadDeed, useDeed } from './queries.ts';
import type { Shown } from './this-page.ts';

interface Question {
  readonly deed: UseQueryResult<ReadDeed>;
  readonly amendment: UseQueryResult<ReadDeed> | null;
  readonly shown: Shown | null;
  readonly org: string;
}

const listed = ({ data }: UseQueryResult<ReadDeed>): GivenDeed | null =>
  data === undefined || data.envelope === null ? null : { ...data, envelope: data.envelope };

const useChecks = ({ deed, amendment, shown, org }: Question) => {
  const given = listed(deed);
  const later = amendment === null ? null : listed(amendment);
  const readAtMs = [deed.dataUpdatedAt, amendment?.dataUpdatedAt];
  const isAsked = given !== null && (amendment === null || later !== null);
  const own = useQuery({
    ...checksQuery({ deed: given, amendment: later, readAtMs, shown, org }),
    enabled: isAsked,
  });
  const proof = useQuery({ ...proofQuery({ deed: given, readAtMs, org }), enabled: isAsked });
  const error = own.error ?? proof.error;
  if (own.data === undefined || proof.data === undefined) return { error, data: undefined };
  return { error, data: { ...own.data, checks: [...own.data.checks, ...proof.data] } };
};

/**
 * The result of the checks, which this browser makes with code, keys and a deed that all come from the service; the
 * page says what that is worth.
 * @param id the deed that was asked for
 * @param shown what the page of its action shows
 * @param amendment the id of the action's newest deed, if it is another
 */
export const DeedCheck = ({
  id,
  shown = null,
  amendment = null,
}: {
  readonly id: string;
  readonly shown?: Shown | null;
  readonly amendment?: string | null;
}) => {
  const { me } = useSession();
  const deed = useDeed(id);
  const later = useDeed(amendment ?? id);
  const checked = useChecks({ deed, amendment: amendment === null ? null : later, shown, org: me.org.id });
  const again = (): void => {
    void deed.refetch();
    if (amendment !== null) void later.refetch();
  };
  const error = deed.error ?? later.error ?? checked.error;
  const isUnlisted = deed.data?.envelope === null || later.data?.envelope === null;
  if (!('subtle' in crypto)) {
    return (
      <section className={kit['panel']}>
        <p className={styles['foot']}>
          Browsers cannot check deeds over plain http. Open the Console with https, or at localhost.
        </p>
      </section>
    );
  }
  return (
    <section className={cx(kit['panel'], styles['check'])} aria-label="Checked in your browser">
      {error !== null ? (
        <Failure error={error} onRetry={again} />
      ) : isUnlisted ? (
        <NotListed onRetry={again} />
      ) : checked.data === undefined ? (
        <div className={styles['foot']}>
          <Bones count={4} />
        </div>
      ) : (
        <>
          <Verdict {...checked.data} onRetry={again} />
          <ul>
            {checked.data.checks.map((check) => (
              <OneCheck key={check.name} check={check} />
            ))}
          </ul>
        </>
      )}
      <p className={styles['foot']}>
        <Link href={`/deeds/${id}`}>Deed</Link> <Id id={id} />
      </p>
    </section>
  );
};

/** Tells that the list does not have this deed. Without its place in the chain it cannot be checked. */
const NotListed = ({ onRetry }: { readonly onRetry: () => void }) => (
  <div className={styles['verdict']} data-tone="warn" role="status">
    <Icon name="question" size={18} />
    <div>
      <h2>Not checked</h2>
      <p>
        This deed is not in the ledger’s list. The list may be a moment behind; if this message stays, the deed has no
        place in the chain.
      </p>
      <Button isSmall onClick={onRetry}>
        Try again
      </Button>
    </div>
  </div>
);

const Verdict = ({
  checks,
  tookMs,
  onRetry,
}: {
  readonly checks: readonly Check[];
  readonly tookMs: number;
  readonly onRetry: () => void;
}) => {
  const failed = checks.filter(({ holds }) => holds === false).length;
  const done = checks.filter(({ holds }) => holds !== null).length;
  const open = checks.length - done;
  return (
    <div className={styles['verdict']} data-tone={failed === 0 ? 'ok' : 'bad'} role="status">
      <Icon name={failed === 0 ? 'shield' : 'shieldCross'} size={18} />
      <div>
        <h2>{failed === 0 ? 'Checked in your browser' : 'Check failed'}</h2>
        <p>
          {failed === 0 ? `${done} checks passed` : `${failed} of ${done} checks failed`}
          {open === 0 ? '' : `, ${open} could not be checked`}, {Math.round(tookMs)} ms
        </p>
        {failed === 0 ? null : (
          <Button isSmall onClick={onRetry}>
            Check again
          </Button>
        )}
      </div>
    </div>
  );
};

const OneCheck = ({ check: { name, holds, says } }: { readonly check: Check }) => (
  <li data-tone={holds === false ? 'bad' : holds === null ? 'open' : 'ok'}>
    <Icon name={holds === false ? 'cross' : holds === null ? 'question' : 'check'} />
    <div>
      <h3>{name}</h3>
      <span className="visually-hidden">
        {holds === false ? 'failed' : holds === null ? 'could not be checked' : 'holds'}
      </span>
      <p>{says}</p>
    </div>
  </li>
);
