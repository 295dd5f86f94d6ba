import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, cx, Id } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Check, GivenDeed } from './check-deed.ts';
import { type ReadDeed, useDeed } from './deed.ts';
import styles from './deed-check.module.css';
import type { Shown } from './this-page.ts';

/**
 * Reads the key set. `no-cache` asks the service whether the browser's copy is still current, because a key may have
 * been revoked since.
 */
const readKeys = async (): Promise<readonly Schemas['SealKey'][]> =>
  (await bodyOf(api.GET('/.well-known/service/keys.json', { cache: 'no-cache' }))).keys;

/**
 * The inputs of a check. The times of their reads are in the query key, so that a deed which is read again is checked
 * again.
 */
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
  return useQuery({
    queryKey: ['deed-check', given?.id, deed.dataUpdatedAt, later?.id, amendment?.dataUpdatedAt, org, shown],
    enabled: given !== null && (amendment === null || later !== null),
    gcTime: 0,
    // A failed check is repeated on the next occasion, because its cause may have been temporary. A check that holds
    // stays, until the deed is read again.
    staleTime: ({ state }) => (state.data?.checks.some(({ holds }) => holds === false) === true ? 0 : Infinity),
    queryFn: async () => {
      if (given === null) throw new Error('asked without a deed');
      const [{ checkDeed }, keys] = await Promise.all([import('./check-deed.ts'), readKeys()]);
      const startedAt = performance.now();
      const page = shown === null ? {} : { page: shown };
      const checks = await checkDeed({ ...given, keys, org, ...page, ...(later === null ? {} : { amendment: later }) });
      return { checks, tookMs: performance.now() - startedAt };
    },
  });
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
