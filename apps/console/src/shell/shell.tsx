import { type ReactNode, useCallback, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useWaitingApprovals } from '../approvals/queries.ts';
import { Icon } from '../design/icon.tsx';
import { serverNow } from '../kernel/clock.ts';
import { useLive } from '../kernel/live-provider.tsx';
import { shortId } from '../kernel/said.ts';
import { useSession } from '../kernel/session.tsx';
import { Menu } from '../kit/dialog.tsx';
import { Button, Said } from '../kit/kit.tsx';
import { Account } from './account.tsx';
import { Banner } from './banner.tsx';
import { KeyHelp } from './key-help.tsx';
import { useKeys } from './keys.ts';
import { Palette } from './palette.tsx';
import { BAR, isAt, SCREENS, type Screen } from './screens.ts';
import { StopDialog } from './stop-dialog.tsx';
import styles from './shell.module.css';

type Open = 'stop' | 'palette' | 'help' | null;

/**
 * The number of approvals that wait, as text, '99+' if there are more than a page; null if there is none, or the number
 * is not known yet.
 */
export const useWaiting = (): string | null => {
  const { data } = useWaitingApprovals();
  if (data === undefined || data.data.length === 0) return null;
  return data.has_more ? '99+' : String(data.data.length);
};

export const Shell = ({ children }: { readonly children: ReactNode }) => {
  const [open, setOpen] = useState<Open>(null);
  const close = useCallback(() => setOpen(null), []);
  useKeys({
    onPalette: useCallback(() => setOpen('palette'), []),
    onHelp: useCallback(() => setOpen('help'), []),
  });
  const waiting = useWaiting();
  return (
    <>
      <a className={styles['skip']} href="#main">
        Skip to the content
      </a>
      <div className={styles['frame']}>
        <Rail waiting={waiting} />
        <TopBar onOpen={setOpen} />
        <div>
          <Banner onStop={() => setOpen('stop')} />
          <main id="main" className={styles['content']}>
            {children}
          </main>
        </div>
        <BottomBar waiting={waiting} />
      </div>
      {open === 'stop' ? <StopDialog onClose={close} /> : null}
      {open === 'palette' ? <Palette onClose={close} /> : null}
      {open === 'help' ? <KeyHelp onClose={close} /> : null}
    </>
  );
};

const Count = ({ screen, waiting }: { readonly screen: Screen; readonly waiting: string | null }) =>
  screen.path !== '/approvals' || waiting === null ? null : (
    <span className={styles['count']}>
      {waiting}
      <span className="visually-hidden"> waiting</span>
    </span>
  );

const Rail = ({ waiting }: { readonly waiting: string | null }) => {
  const { me, times } = useSession();
  const [location] = useLocation();
  return (
    <nav className={styles['rail']} aria-label="Screens">
      <div className={styles['brand']}>
        <span className={styles['logo']}>
          <Icon name="check" size={14} />
        </span>
        <span>
          <Said text={me.org.name} />
        </span>
      </div>
      <ul>
        {SCREENS.map((screen) => (
          <li key={screen.path}>
            <Link
              href={screen.path}
              className={styles['place'] ?? ''}
              aria-current={isAt(screen, location) ? 'page' : undefined}
            >
              <Icon name={screen.icon} />
              {screen.name}
              <Count screen={screen} waiting={waiting} />
            </Link>
          </li>
        ))}
      </ul>
      <p className={styles['zone']}>Times: {times.zoneName(serverNow())}</p>
    </nav>
  );
};

const STATUS = { live: 'live', connecting: 'connecting', polling: 'polling' } as const;

const TopBar = ({ onOpen }: { readonly onOpen: (open: Open) => void }) => {
  const { status } = useLive();
  const [location] = useLocation();
  const screen = SCREENS.find((one) => isAt(one, location));
  const id = location.split('/')[2];
  return (
    <header className={styles['top']}>
      <div className={styles['where']}>
        {screen === undefined ? null : id === undefined ? (
          screen.name
        ) : (
          <>
            <Link href={screen.path}>{screen.name}</Link>
            <span aria-hidden="true">/</span>
            {id.includes('_') ? <code>{shortId(id)}</code> : id.replaceAll('-', ' ')}
          </>
        )}
      </div>
      <button type="button" className={styles['find']} onClick={() => onOpen('palette')}>
        <Icon name="search" />
        Go to, or paste an id
        <kbd>Ctrl K</kbd>
      </button>
      <span
        className={styles['dot']}
        data-status={status}
        title={status === 'live' ? 'Live: changes appear immediately' : 'Refreshed every 15 seconds'}
      >
        <i />
        <span>{STATUS[status]}</span>
      </span>
      <Button kind="danger" icon="octagon" onClick={() => onOpen('stop')}>
        Stop
      </Button>
      <Account onHelp={() => onOpen('help')} />
    </header>
  );
};

const BottomBar = ({ waiting }: { readonly waiting: string | null }) => {
  const [location] = useLocation();
  return (
    <nav className={styles['bar']} aria-label="Screens, at the bottom">
      {BAR.flatMap((path) => SCREENS.filter((screen) => screen.path === path)).map((screen) => (
        <Link key={screen.path} href={screen.path} aria-current={isAt(screen, location) ? 'page' : undefined}>
          <Icon name={screen.icon} size={20} />
          {screen.name}
          <Count screen={screen} waiting={waiting} />
        </Link>
      ))}
      <Menu
        button={({ popoverTarget }) => (
          <button type="button" popoverTarget={popoverTarget}>
            <Icon name="more" size={20} />
            More
          </button>
        )}
      >
        {SCREENS.filter(({ path }) => !BAR.includes(path)).map((screen) => (
          <Link key={screen.path} href={screen.path}>
            <Icon name={screen.icon} />
            {screen.name}
          </Link>
        ))}
      </Menu>
    </nav>
  );
};
