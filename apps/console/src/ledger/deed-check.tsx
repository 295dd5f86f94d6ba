import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, cx, Id } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Check } from './check-deed.ts';
import { type ReadDeed, useDeed } from './deed.ts';
import styles from './deed-check.module.css';

/** What an action shows, to be compared with the digests of its deed; null where it was removed. */
export interface Shown {
  readonly args: unknown;
  readonly result: unknown;
}

const keysFor = async (kid: string): Promise<readonly Schemas['SealKey'][]> => {
  const { keys } = await bodyOf(api.GET('/.well-known/service/keys.json', { cache: 'default' }));
  // A key that the copy does not know may be a new one.
  if (keys.some((key) => key.kid === kid)) return keys;
  return (await bodyOf(api.GET('/.well-known/service/keys.json', { cache: 'reload' }))).keys;
};

const useChecks = (id: string, deed: ReadDeed | undefined, org: string, shown: Shown | null) =>
  useQuery({
    queryKey: ['deed-check', id, deed?.after?.id ?? null, shown],
    enabled: deed !== undefined && deed.envelope !== null,
    staleTime: Infinity,
    queryFn: async () => {
      if (deed === undefined || deed.envelope === null) throw new Error('asked without a deed');
      const { bytes, envelope, before, after } = deed;
      const [{ checkDeed }, keys] = await Promise.all([import('./check-deed.ts'), keysFor(envelope.kid)]);
      const startedAt = performance.now();
      const checks = await checkDeed({ bytes, envelope, before, after, keys, org, ...(shown ?? {}) });
      return { checks, tookMs: performance.now() - startedAt };
    },
  });

/** Done by this browser, with code, keys and a deed that all come from the service: what that is worth stands below it. */
export const DeedCheck = ({ id, shown = null }: { readonly id: string; readonly shown?: Shown | null }) => {
  const { me } = useSession();
  const deed = useDeed(id);
  const checked = useChecks(id, deed.data, me.org.id, shown);
  const error = deed.error ?? checked.error;
  if (!('subtle' in crypto)) {
    return (
      <section className={kit['panel']}>
        <p className={styles['foot']}>
          This browser checks nothing over plain http. Open the Console by https, or at localhost.
        </p>
      </section>
    );
  }
  return (
    <section className={cx(kit['panel'], styles['check'])} aria-label="Checked in your browser">
      {error !== null ? (
        <Failure error={error} onRetry={() => void deed.refetch()} />
      ) : checked.data === undefined ? (
        <div className={styles['foot']}>
          <Bones count={4} />
        </div>
      ) : (
        <>
          <Verdict {...checked.data} />
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

const Verdict = ({ checks, tookMs }: { readonly checks: readonly Check[]; readonly tookMs: number }) => {
  const failed = checks.filter(({ holds }) => holds === false).length;
  const done = checks.filter(({ holds }) => holds !== null).length;
  return (
    <div className={styles['verdict']} data-tone={failed === 0 ? 'ok' : 'bad'} role="status">
      <Icon name={failed === 0 ? 'shield' : 'shieldCross'} size={18} />
      <div>
        <h2>{failed === 0 ? 'Checked in your browser' : 'It does not hold'}</h2>
        <p>
          {failed === 0 ? `${done} checks` : `${failed} of ${done} checks failed`}, {Math.round(tookMs)} ms
        </p>
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
        {holds === false ? 'does not hold' : holds === null ? 'cannot be said' : 'holds'}
      </span>
      <p>{says}</p>
    </div>
  </li>
);
