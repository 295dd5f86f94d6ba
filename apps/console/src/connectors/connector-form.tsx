import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../kernel/errors.ts';
import { Failure } from '../kit/failure.tsx';
import { TextField } from '../kit/fields.tsx';
import { Button, Panel, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { AsJson } from './as-json.tsx';
import styles from './connectors.module.css';
import { type Fault, type Draft, type DraftObject, type Json, toJson } from './draft.ts';
import type { ConnectorDraft } from './drafts.ts';
import { FormProvider, isWithin } from './form-context.ts';
import { Members } from './members.tsx';
import { restAfter, restBelow } from './rest-below.tsx';
import type { Schema } from './schema.ts';

/** What the form sends. */
export interface Written {
  readonly name: string;
  readonly description: string;
  readonly config: Json;
}

interface Props {
  readonly schema: Schema;
  readonly type: string;
  readonly draft: ConnectorDraft;
  readonly onChange: (draft: Partial<ConnectorDraft>) => void;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly save: string;
  /** Shown above the buttons, such as a conflict. */
  readonly notice?: ReactNode;
  /** Consequences of saving, as sentences. */
  readonly brings?: readonly string[];
  readonly onSave: (written: Written) => void;
  /** Leaves the form. The draft is kept. */
  readonly onLeave: () => void;
  readonly onDiscard: () => void;
}

/** A fault that the form found before sending, as an error in the shape of the service's. */
const errorOf = ({ param, message }: Fault): ApiError =>
  new ApiError({ code: 'validation_failed', message, param, status: 0 });

const UNUSED_JSON: Fault = {
  param: 'config',
  message: 'The JSON has not been applied to the form. Apply it, or discard it and return to the form.',
};

const NAMELESS: Fault = { param: 'name', message: 'This field is required.' };

const REST = { after: restAfter, below: restBelow };
const ANY = { after: (_name: string, object: DraftObject) => object, below: () => null };

/** A form generated from the type's schema, and the same config as JSON. */
export const ConnectorForm = (props: Props) => {
  const { schema, draft, onChange, onSave, type } = props;
  const [fault, setFault] = useState<ApiError | null>(null);
  const isJsonTyped = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const refused = props.error instanceof ApiError ? props.error : null;
  const error = fault ?? refused;
  useEffect(() => {
    if (error !== null && error.param !== null) lookAt(form.current, error.param);
  }, [error]);
  const submit = (): void => {
    const faults: Fault[] = isJsonTyped.current ? [UNUSED_JSON] : [];
    if (draft.base === null && draft.name.trim() === '') faults.push(NAMELESS);
    const config = toJson(schema, draft.config, 'config', faults) ?? {};
    const [first] = faults;
    setFault(first === undefined ? null : errorOf(first));
    if (first === undefined) onSave({ name: draft.name.trim(), description: draft.description.trim(), config });
  };
  const change = (config: Draft): void => onChange({ config });
  return (
    <form
      ref={form}
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FormProvider value={{ root: draft.config, error, ...(type === 'rest' ? REST : ANY) }}>
        <Panel title={draft.base === null ? 'Name and description' : 'Description'}>
          <Names draft={draft} onChange={onChange} error={error} />
        </Panel>
        <Panel title="Configuration">
          <Members schema={schema} param="config" object={draft.config as DraftObject} onChange={change} />
        </Panel>
        <AsJson
          schema={schema}
          config={draft.config}
          onChange={change}
          onTyped={(isTyped) => (isJsonTyped.current = isTyped)}
        />
      </FormProvider>
      <Foot {...props} fault={fault} />
    </form>
  );
};

const Names = ({ draft, onChange, error }: Pick<Props, 'draft' | 'onChange' | 'error'>) => (
  <div className={styles['members']}>
    {draft.base === null ? (
      <div className={styles['member']} data-room="line" data-param="name">
        <TextField
          label="Name"
          hint="2 to 32 lower-case letters, digits or hyphens, starting with a letter. The name is the prefix of the tool names, as in crm.get_customer, and cannot be changed later."
          param="name"
          error={error}
          placeholder="crm"
          maxLength={32}
          spellCheck={false}
          value={draft.name}
          onChange={(name) => onChange({ name })}
        />
      </div>
    ) : null}
    <div className={styles['member']} data-room="line" data-param="description">
      <TextField
        label="Description (optional)"
        param="description"
        error={error}
        value={draft.description}
        onChange={(description) => onChange({ description })}
      />
    </div>
  </div>
);

const Foot = ({
  draft,
  error,
  isPending,
  save,
  notice,
  brings = [],
  onLeave,
  onDiscard,
  fault,
}: Props & { readonly fault: ApiError | null }) => (
  <div className={styles['foot']}>
    {fault === null ? (
      (notice ?? (error === null ? null : <Failure error={error} />))
    ) : (
      <div className={kit['notice']} role="alert">
        {fault.param === UNUSED_JSON.param ? fault.message : 'Nothing was saved. Correct the fields marked above.'}
      </div>
    )}
    <div role="status">
      {brings.map((sentence) => (
        <Warning key={sentence}>{sentence}</Warning>
      ))}
    </div>
    <div className={kit['buttons']}>
      <Button type="submit" kind="primary" disabled={isPending}>
        {isPending ? 'Saving …' : save}
      </Button>
      <Button onClick={onLeave}>Back</Button>
      {draft.isTouched ? (
        <>
          <Button kind="danger" onClick={onDiscard}>
            Discard draft
          </Button>
          <small className={styles['keeps']}>Your draft is kept until you close this tab.</small>
        </>
      ) : null}
    </div>
  </div>
);

/** Scrolls to the field that an error names, or to the group around it, and gives it the focus. */
const lookAt = (form: HTMLFormElement | null, param: string): void => {
  const near = [...(form?.querySelectorAll<HTMLElement>('[data-param]') ?? [])]
    .filter(({ dataset }) => isWithin(param, dataset['param'] ?? ''))
    .sort((one, other) => (other.dataset['param']?.length ?? 0) - (one.dataset['param']?.length ?? 0))[0];
  near?.querySelector<HTMLElement>('input, select, textarea, button, summary')?.focus({ preventScroll: true });
  near?.scrollIntoView({ block: 'center' });
};
