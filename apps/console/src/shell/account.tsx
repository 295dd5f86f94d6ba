import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { api, bodyOf, doneOf } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { chooseTheme, chosenTheme, type Theme } from '../kernel/preferences.ts';
import { useVersion } from '../kernel/documentation.tsx';
import { shortId } from '../kernel/said.ts';
import { useSession } from '../kernel/session.tsx';
import { Menu } from '../kit/dialog.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { thenGo, thenTell } from './leaving.ts';
import { isAt, SCREENS } from './screens.ts';
import styles from './shell.module.css';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

const logOut = (): Promise<void> => doneOf(api.POST('/v1/auth/logout', { body: { everywhere: false } }));

const signOut = (): void => thenGo(logOut, '/login');

/** Signs out a person who is not there to be asked about drafts. */
export const signOutAbsent = (): Promise<void> => thenTell(logOut, '/login');

const switchTo = (org: string): void =>
  thenGo(() => bodyOf(api.POST('/v1/auth/switch-org', { body: { org } })), '/app');

/** A link to the documentation of the open screen; nothing if no documentation is published. */
const Documentation = () => {
  const docsUrl = useVersion().data?.docs_url ?? null;
  const [location] = useLocation();
  if (docsUrl === null) return null;
  const page = SCREENS.find((screen) => isAt(screen, location))?.docs ?? 'console';
  return (
    <a href={`${docsUrl}/${page}`} target="_blank" rel="noreferrer">
      Documentation of this screen
    </a>
  );
};

/** The account menu: who is signed in, the person's other organizations, the theme, and signing out. */
export const Account = ({ onHelp }: { readonly onHelp: () => void }) => {
  const { me, times } = useSession();
  const [theme, setTheme] = useState(chosenTheme);
  const others = me.organizations.filter(({ id }) => id !== me.org.id);
  return (
    <Menu
      button={({ popoverTarget }) => (
        <button type="button" className={kit['iconButton']} aria-label="Account" popoverTarget={popoverTarget}>
          <Icon name="user" size={20} />
        </button>
      )}
    >
      <p className={styles['accountMail']}>
        <Said text={me.user.email ?? shortId(me.user.id)} />
        <small>
          {me.membership.role} of <Said text={me.org.name} />
        </small>
        <small>Times: {times.zoneName(serverNow())}</small>
      </p>
      {others.map(({ id, name }) => (
        <button key={id} type="button" onClick={() => switchTo(id)}>
          Switch to <Said text={name} />
        </button>
      ))}
      {THEMES.map(([value, name]) => (
        <button
          key={value}
          type="button"
          aria-pressed={theme === value}
          onClick={() => {
            chooseTheme(value);
            setTheme(value);
          }}
        >
          {theme === value ? <Icon name="check" /> : null}
          Theme: {name}
        </button>
      ))}
      <Link href="/settings/sessions">Your sessions</Link>
      <Documentation />
      <button type="button" onClick={onHelp}>
        Keyboard shortcuts
      </button>
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </Menu>
  );
};
