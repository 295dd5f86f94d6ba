import { type ReactNode, useState } from 'react';
import { Dialog, DialogFoot } from './dialog.tsx';
import { Button, Warning } from './kit.tsx';
import styles from './form.module.css';

/** Shows a secret once. The caller keeps the secret in its own state, and must drop it in `onClose`. */
export const SecretDialog = ({
  title,
  secret,
  lost,
  children,
  onClose,
}: {
  readonly title: string;
  /** Null if the answer with the secret was lost: the service sends it only once. */
  readonly secret: string | null;
  /** The next step if the secret was lost. */
  readonly lost: string;
  /** Where the secret has to be stored. */
  readonly children: ReactNode;
  readonly onClose: () => void;
}) => {
  const [copy, setCopy] = useState<'not yet' | 'done' | 'refused'>('not yet');
  const [isWarned, setWarned] = useState(false);
  // The first attempt to close only warns if the secret was not copied, because Escape is easily pressed by mistake.
  const close = (): void => {
    if (secret === null || copy === 'done' || isWarned) onClose();
    else setWarned(true);
  };
  const copyIt = (text: string): void => {
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) return setCopy('refused');
    void clipboard.writeText(text).then(
      () => setCopy('done'),
      () => setCopy('refused'),
    );
    return undefined;
  };
  return (
    <Dialog title={title} onClose={close}>
      {secret === null ? (
        <Warning>The response with the secret did not arrive, and the secret cannot be shown again. {lost}</Warning>
      ) : (
        <>
          <p>This secret is shown only once. Copy it now: nobody can read it later, not even an operator.</p>
          <code className={styles['secret']} tabIndex={0} aria-label="Secret">
            {secret}
          </code>
          {children}
        </>
      )}
      <p role="status">
        {copy === 'done'
          ? 'Copied.'
          : copy === 'refused'
            ? 'The browser does not allow copying. Select the secret above and copy it.'
            : ''}
      </p>
      {isWarned && copy !== 'done' ? (
        <Warning>
          You have not copied the secret. If you close this dialog, the secret cannot be shown again. Close again to
          confirm.
        </Warning>
      ) : null}
      <DialogFoot>
        <Button onClick={onClose}>{secret === null ? 'Close' : 'I have stored it'}</Button>
        {secret === null ? null : (
          <Button kind="primary" icon={copy === 'done' ? 'check' : 'copy'} data-first onClick={() => copyIt(secret)}>
            Copy secret
          </Button>
        )}
      </DialogFoot>
    </Dialog>
  );
};
