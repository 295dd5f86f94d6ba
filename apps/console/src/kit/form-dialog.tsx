import type { ReactNode } from 'react';
import { Dialog, DialogFoot } from './dialog.tsx';
import { OtherFailure } from './field.tsx';
import { Button } from './kit.tsx';
import styles from './form.module.css';

/** A form or a question in a dialog, with an error above its button. The button says what it does. */
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
  /** The words of the button: 'Revoke key', never 'OK'. */
  readonly action: string;
  /** The words of the button while the request is under way. */
  readonly busy: string;
  readonly kind?: 'primary' | 'stop';
  readonly isPending: boolean;
  readonly isReady?: boolean;
  readonly error: unknown;
  /** The API's names of fields that show their own errors. */
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
