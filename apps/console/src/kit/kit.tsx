import { type ButtonHTMLAttributes, type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { Icon, type IconName } from '../design/icon.tsx';
import { plain, shortId, shownPiecesOf } from '../kernel/said.ts';
import { serverNow } from '../kernel/clock.ts';
import { useSession } from '../kernel/session.tsx';
import styles from './kit.module.css';

export const cx = (...names: readonly (string | false | null | undefined)[]): string =>
  names.filter((name) => typeof name === 'string').join(' ');

/**
 * A text that an agent, a tool or a caller chose: rendered as plain text, with marks for invisible characters. A
 * multiline text reads from left to right, as it was sent; runs of right-to-left letters are isolated, so that they do
 * not reorder the text around them.
 * @param max how many elements it may become, for a text that is one of many on its page
 */
export const Said = ({
  text,
  isMultiline = false,
  max,
}: {
  readonly text: string;
  readonly isMultiline?: boolean;
  readonly max?: number;
}) => {
  const { pieces, isSpelled } = shownPiecesOf(text, isMultiline, max);
  return (
    <bdi dir={isMultiline ? 'ltr' : undefined} className={isSpelled ? styles['asSent'] : undefined}>
      {pieces.map((piece, index) => {
        if (piece.isHidden) return <mark key={index}>{piece.text}</mark>;
        return piece.isRightToLeft === true ? <bdi key={index}>{piece.text}</bdi> : piece.text;
      })}
    </bdi>
  );
};

/** A box for a text that somebody else wrote. It scrolls in its place, however long the text is. */
export const ForeignText = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <div className={styles['foreign']} role="group" aria-label={label} tabIndex={0}>
    {children}
  </div>
);

type Kind = 'plain' | 'primary' | 'danger' | 'stop';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: Kind;
  readonly isSmall?: boolean;
  readonly icon?: IconName;
};

/** Ignores the repeats of a held key: an action that asks for two presses must get two from the person. */
const pressOnce = (event: KeyboardEvent): void => {
  if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault();
};

export const Button = ({ kind = 'plain', isSmall = false, icon, children, className, ...others }: ButtonProps) => (
  <button
    type="button"
    onKeyDown={pressOnce}
    className={cx(styles['button'], kind !== 'plain' && styles[kind], isSmall && styles['small'], className)}
    {...others}
  >
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </button>
);

/** Copies a text to the clipboard, and tells for 1.5 s that it did. */
const useCopy = () => {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  };
  return { isCopied, copy };
};

export const CopyButton = ({ text, children }: { readonly text: string; readonly children: ReactNode }) => {
  const { isCopied, copy } = useCopy();
  return (
    <Button isSmall icon={isCopied ? 'check' : 'copy'} onClick={() => copy(text)}>
      <span aria-live="polite">{isCopied ? 'Copied' : children}</span>
    </Button>
  );
};

/** An id, shortened in its middle unless `isWhole`. A press copies the whole id. */
export const Id = ({ id, isWhole = false }: { readonly id: string; readonly isWhole?: boolean }) => {
  const { isCopied, copy } = useCopy();
  return (
    <button type="button" className={styles['id']} title={`Copy ${plain(id)}`} onClick={() => copy(id)}>
      {isCopied ? 'copied' : <Said text={isWhole ? id : shortId(id)} />}
    </button>
  );
};

/** A time in the organization's zone; the tooltip adds UTC. */
export const Time = ({ at, isExact = false }: { readonly at: string; readonly isExact?: boolean }) => {
  const { times } = useSession();
  return (
    <time dateTime={at} title={`${times.exact(at)}, ${at}`} className={isExact ? undefined : styles['number']}>
      {isExact ? times.exact(at) : times.short(at, serverNow())}
    </time>
  );
};

export interface Cost {
  readonly amount: number;
  readonly currency: string;
  readonly display?: string;
}

/**
 * An amount as the service formats it, always with the raw units beside it, because a factor of 100 is an expensive
 * mistake.
 */
export const Money = ({ amount, currency, display }: Cost) => (
  <span className={styles['number']}>
    {display === undefined ? null : `${display} `}
    <span className={styles['dim']}>
      {amount} {currency} {display === undefined ? '(smallest unit)' : ''}
    </span>
  </span>
);

/** What stands in place of an empty list: what would be listed here, and how to begin. */
export const Empty = ({
  title,
  children,
  code,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly code?: string;
}) => (
  <div className={styles['empty']}>
    <h2>{title}</h2>
    <div>{children}</div>
    {code === undefined ? null : (
      <>
        <pre className={styles['code']} tabIndex={0}>
          {code}
        </pre>
        <CopyButton text={code}>Copy</CopyButton>
      </>
    )}
  </div>
);

/** Placeholder rows while a list is loaded for the first time. */
export const Bones = ({ count = 8 }: { readonly count?: number }) => (
  <div className={styles['bones']} role="status" aria-label="Loading">
    {Array.from({ length: count }, (_, index) => (
      <div key={index} className={styles['bone']} />
    ))}
  </div>
);

export const Warning = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['warning']}>
    <Icon name="triangle" />
    <div>{children}</div>
  </div>
);

export const Panel = ({
  title,
  aside,
  children,
}: {
  readonly title: ReactNode;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) => {
  const id = useId();
  return (
    <section className={styles['panel']} aria-labelledby={id}>
      <div className={styles['panelHead']}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      <div className={styles['panelBody']}>{children}</div>
    </section>
  );
};

/** Marks a table cell without a value; left out on a phone. */
export const None = () => <span className={styles['none']}>–</span>;

/** A bar that shows how much of a budget is used up. */
export const Meter = ({
  used,
  limit,
  label,
}: {
  readonly used: number;
  readonly limit: number;
  readonly label: string;
}) => {
  const share = limit === 0 ? 1 : used / limit;
  return (
    <div
      className={styles['meter']}
      data-state={share >= 1 ? 'over' : share >= 0.9 ? 'near' : 'fine'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={used}
      title={label}
    >
      <i style={{ width: `${Math.min(100, share * 100)}%` }} />
    </div>
  );
};
