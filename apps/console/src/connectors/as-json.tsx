import { useState } from 'react';
import { Fault } from '../kit/fields.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './connectors.module.css';
import { type Draft, type Json, Misfit, toDraft, toJson } from './draft.ts';
import type { Schema } from './schema.ts';

/** The form's config as JSON text, to edit or to paste as a whole. */
export const AsJson = ({
  schema,
  config,
  onChange,
  onTyped,
}: {
  readonly schema: Schema;
  readonly config: Draft;
  readonly onChange: (config: Draft) => void;
  /** Called with whether the text holds changes that are not applied to the form yet. */
  readonly onTyped: (isTyped: boolean) => void;
}) => {
  /** The typed text, until it is applied to the form; then null. */
  const [typed, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const shown = typed ?? JSON.stringify(toJson(schema, config, 'config', []), null, 2);
  const setTyped = (text: string | null): void => {
    setText(text);
    onTyped(text !== null);
  };
  const forget = (): void => {
    setTyped(null);
    setFault(null);
  };
  const take = (): void => {
    try {
      onChange(toDraft(schema, JSON.parse(shown) as Json, 'config'));
      forget();
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof Misfit)) throw error;
      setFault(error instanceof Misfit ? error.message : `This is not valid JSON: ${error.message}`);
    }
  };
  return (
    <details
      className={styles['more']}
      data-param="config"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Edit as JSON</summary>
      {isOpen ? (
        <div className={kit['stack']}>
          <textarea
            className={styles['json']}
            aria-label="The config as JSON"
            aria-invalid={fault === null ? undefined : true}
            spellCheck={false}
            rows={Math.min(24, shown.split('\n').length + 1)}
            value={shown}
            onChange={({ target }) => setTyped(target.value)}
          />
          <Fault text={fault} />
          <div className={kit['buttons']}>
            <Button isSmall disabled={typed === null} onClick={take}>
              Apply to the form
            </Button>
            {typed === null ? null : (
              <Button isSmall onClick={forget}>
                Discard and return to the form
              </Button>
            )}
          </div>
        </div>
      ) : null}
    </details>
  );
};
