import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from '../design/icon.tsx';
import styles from './kit.module.css';

/** A modal dialog: the browser keeps the focus in it, and Escape closes it. What is marked `data-first` has the focus at first. */
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
  // Its end is run before the element is taken out: only then does the browser give the focus back to what opened it.
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
        // Whoever opened it closes it: there may be something to ask before.
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // Where it is taken out, whoever opened it knows: asked again, it would close what came in its place.
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

/** The buttons of a dialog, in sight while it scrolls: first what leaves all as it is, last what the dialog is for. */
export const DialogFoot = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles['dialogFoot']}>{children}</div>
);

/** Buttons in a popover, beside the button that opens it. */
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
