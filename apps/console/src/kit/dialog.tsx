import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from '../design/icon.tsx';
import styles from './kit.module.css';

/**
 * A modal dialog: the browser keeps the focus inside, and Escape closes it. An element marked `data-first` gets the
 * initial focus.
 */
export const Dialog = ({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => {
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const id = useId();
  // A layout effect, because its cleanup runs before the element is removed: only if `close` is called then does the
  // browser give the focus back to the element that opened the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    isGone.current = false;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      isGone.current = true;
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={styles['dialog']}
      aria-labelledby={id}
      onCancel={(event) => {
        // The caller decides whether the dialog closes, because it may have to ask first.
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // If the dialog is being unmounted, the caller already knows. A second `onClose` could close the dialog that
        // the caller opened next.
        if (!isGone.current) onClose();
      }}
    >
      <div className={styles['dialogHead']}>
        <h2 id={id}>{title}</h2>
        <button type="button" className={styles['iconButton']} aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className={styles['dialogBody']}>{children}</div>
    </dialog>
  );
};

/**
 * The buttons of a dialog, which stay visible while its content scrolls: first the one that changes nothing, last the
 * main action.
 */
export const DialogFoot = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['dialogFoot']}>{children}</div>
);

/** A button, and a popover with more buttons beside it. */
export const Menu = ({
  button,
  children,
}: {
  readonly button: (props: { readonly popoverTarget: string }) => ReactNode;
  readonly children: ReactNode;
}) => {
  const id = useId();
  return (
    <>
      {button({ popoverTarget: id })}
      <div
        id={id}
        popover="auto"
        className={styles['menu']}
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
        onKeyDown={({ key, currentTarget }) => {
          if (key !== 'ArrowDown' && key !== 'ArrowUp') return;
          const items = [...currentTarget.querySelectorAll<HTMLElement>('button, a')];
          const at = items.indexOf(document.activeElement as HTMLElement);
          items[(at + (key === 'ArrowDown' ? 1 : -1) + items.length) % items.length]?.focus();
        }}
      >
        {children}
      </div>
    </>
  );
};
