import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { useLive } from '../kernel/live-provider.tsx';
import { useMay, useSession } from '../kernel/session.tsx';
import { Button } from '../kit/kit.tsx';
import { overviewQuery } from '../insights/queries.ts';
import styles from './shell.module.css';
import { useIsSignedOut } from './signed-out.ts';
import { StoppedSince } from './stopped.tsx';

/** Whether a file that this page tried to load is gone, because a newer version was deployed. */
const useIsOld = (): boolean => {
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    const hear = (event: Event): void => {
      event.preventDefault();
      setOld(true);
    };
    window.addEventListener('vite:preloadError', hear);
    return () => window.removeEventListener('vite:preloadError', hear);
  }, []);
  return isOld;
};

/** Shows one message at a time, the most urgent one. */
export const Banner = ({ onStop }: { readonly onStop: () => void }) => {
  const { me, org } = useSession();
  const { hasGap } = useLive();
  const isOld = useIsOld();
  const isOut = useIsSignedOut();
  const isOwner = useMay('owner');
  const { data: overview } = useQuery({ ...overviewQuery('24h'), refetchInterval: 60_000 });
  const broken = overview?.attention.find(({ kind }) => kind === 'chain_broken');
  if (isOut) {
    return (
      <div className={styles['banner']} role="alert">
        <Icon name="key" />
        You are signed out. Unsaved text is kept while this page is open.
        <a href="/login?next=%2Fapp" target="_blank" rel="noreferrer">
          Sign in again in a new tab, then continue here
        </a>
      </div>
    );
  }
  if ((org?.status ?? me.org.status) === 'stopped') {
    return (
      <div className={styles['banner']} data-tone="stop" role="status">
        <Icon name="octagon" />
        <span>
          All agents are stopped
          {org === null ? null : <StoppedSince org={org} />}.
        </span>
        <Button isSmall onClick={onStop}>
          {isOwner ? 'Start again …' : 'View calls in flight'}
        </Button>
      </div>
    );
  }
  if (broken !== undefined) {
    return (
      <div className={styles['banner']} data-tone="stop" role="alert">
        <Icon name="shieldCross" />
        The chain of deeds is broken
        {broken.first_bad_seq === null || broken.first_bad_seq === undefined
          ? ''
          : ` at #${broken.first_bad_seq}`}: {broken.reason}. Tell the operator immediately.
      </div>
    );
  }
  if (isOld || hasGap) {
    return (
      <div className={styles['banner']} role="status">
        <Icon name="alert" />
        {isOld ? 'A new version of the Console is available.' : 'Some changes may not be shown.'}
        <Button isSmall onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    );
  }
  return null;
};
