import { useState } from 'react';
import { Button, Warning } from '../kit/kit.tsx';
import { dropDraft, hasDraft } from './drafts.ts';

/**
 * Discards drafts that have no form any more, because the person has lost the role for it, or the form cannot hold the
 * config as it is now. Without this button, the page would ask about them until it is closed.
 */
export const StrandedDrafts = ({ names }: { readonly names: readonly string[] }) => {
  const [isDone, setDone] = useState(false);
  if (isDone || !names.some(hasDraft)) return null;
  const discard = (): void => {
    names.forEach(dropDraft);
    setDone(true);
  };
  return (
    <Warning>
      You have an unsaved draft here that can no longer be saved.{' '}
      <Button isSmall kind="danger" onClick={discard}>
        Discard draft
      </Button>
    </Warning>
  );
};
