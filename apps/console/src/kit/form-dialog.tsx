import type { ReactNode } from 'react';
import { Dialog, DialogFoot } from './dialog.tsx';
import { OtherFailure } from './field.tsx';
import { Button } from './kit.tsx';
import styles from './form.module.css';

/** A form, or a question, in a dialog: what its one button does stands on it, and what went wrong above it. */
export const FormDialog = ({
  title,
  action,
  busy,
  kind = 'primary',
  isPending,
  isReady = true,
  error,
  params = [],
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  /** What the button does: 'Revoke key', never 'OK'. */
  readonly action: string;
  /** The same while it is under way. */
  readonly busy: string;
  readonly kind?: 'primary' | 'stop';
  readonly isPending: boolean;
  readonly isReady?: boolean;
  readonly error: unknown;
  /** Fields that say themselves what is wrong with them. */
  readonly params?: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog title={title} onClose={onClose}>
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isPending) onSubmit();
      }}
    >
      {children}
      <OtherFailure error={error} params={params} />
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind={kind} disabled={!isReady || isPending}>
          {isPending ? busy : action}
        </Button>
      </DialogFoot>
    </form>
  </Dialog>
);
