import { type ReactNode, useEffect, useRef } from 'react';
import { plain } from '../kernel/said.ts';
import { useSession } from '../kernel/session.tsx';
import styles from './screen.module.css';

/**
 * The head of a screen. When a screen opens, its heading takes the focus, so that screen readers read it out, and its
 * title becomes the document's.
 */
export const ScreenHead = ({
  title,
  name = title,
  about,
  badges,
  action,
}: {
  /** The title of the document, and of the heading if there is no `name`. Plain text. */
  readonly title: string;
  readonly name?: ReactNode;
  readonly about?: ReactNode;
  readonly badges?: ReactNode;
  /** The main action of the screen: at the right end, on a phone below the text. */
  readonly action?: ReactNode;
}) => {
  const { me } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = plain(title);
  useEffect(() => {
    document.title = `${shown} - ${plain(me.org.name)}`;
  }, [shown, me.org.name]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return (
    <div className={styles['head']}>
      <div className={styles['title']}>
        <h1 ref={heading} tabIndex={-1}>
          {name}
        </h1>
        {badges}
      </div>
      {about === undefined ? null : <p>{about}</p>}
      {action === undefined || action === null ? null : <div className={styles['action']}>{action}</div>}
    </div>
  );
};
