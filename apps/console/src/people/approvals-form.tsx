import { useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { APPROVAL_DOOR_VALUES } from '../kernel/contract.ts';
import { Choices, Field, OtherFailure } from '../kit/field.tsx';
import { Button } from '../kit/kit.tsx';
import { type Door, doorInWords, lifeOf, secondsOf, type Unit, UNITS } from './organization-words.ts';
import { Sealed } from './sealed.tsx';
import { useSettingsChange } from './settings-change.ts';
import styles from './settings.module.css';

const MAIL: Readonly<Record<Door, string>> = {
  decide: 'Approvers get a mail with a link and can decide on the linked page.',
  review_only: 'Approvers get a mail and sign in to the Console to decide.',
  off: 'No mails are sent, and links already sent are void.',
};

interface LifeDraft {
  readonly count: string;
  readonly unit: Unit;
}

interface Draft {
  readonly mail?: Door;
  readonly life?: LifeDraft;
  readonly signed?: boolean;
}

type Signed = 'rule' | 'all';

const SIGNED: Readonly<Record<Signed, readonly [name: string, about: string]>> = {
  rule: ['Where a rule says so', 'Rules with “signed: true” need a passkey; others need a press of the button.'],
  all: ['Always', 'Whoever approves signs with a passkey, also what waits already. Denying needs none.'],
};

/** How approvers are notified, and how long a call waits for them. */
export const ApprovalsForm = ({ org }: { readonly org: Schemas['Organization'] }) => {
  const [draft, setDraft] = useState<Draft>({});
  const change = useSettingsChange(() => setDraft({}));
  const known = lifeOf(org.approvals.expires_in_s ?? UNITS.days);
  const { mail = org.approvals.mail ?? 'decide', signed: isSigned = org.approvals.signed === true } = draft;
  const { count, unit } = draft.life ?? { count: String(known.count), unit: known.unit };
  const isDirty = Object.keys(draft).length > 0;
  const save = (): void => {
    const { life, ...doors } = draft;
    change.mutate({
      approvals: { ...doors, ...(life && { expires_in_s: secondsOf(Number(life.count), life.unit) }) },
    });
  };
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className={styles['doors']}>
        <Choices
          legend="Mail"
          chosen={mail}
          onChoose={(value) => setDraft({ ...draft, mail: value })}
          of={APPROVAL_DOOR_VALUES.map((value) => ({ value, name: doorInWords(value), about: MAIL[value] }))}
        />
      </div>
      <div className={styles['doors']}>
        <Choices
          legend="Approvals need a passkey"
          chosen={isSigned ? 'all' : 'rule'}
          onChoose={(value: Signed) => setDraft({ ...draft, signed: value === 'all' })}
          of={(Object.keys(SIGNED) as Signed[]).map((value) => ({
            value,
            name: SIGNED[value][0],
            about: SIGNED[value][1],
          }))}
        />
      </div>
      <Life count={count} unit={unit} error={change.error} onChange={(life) => setDraft({ ...draft, life })} />
      <OtherFailure error={change.error} params={['approvals.expires_in_s']} />
      {change.data === undefined || isDirty ? null : <Sealed deed={change.data.deed}>Approval settings saved.</Sealed>}
      <Button type="submit" disabled={!isDirty || count.trim() === '' || change.isPending}>
        {change.isPending ? 'Saving …' : 'Save approval settings'}
      </Button>
    </form>
  );
};

/** The field for how long a call waits for approval. */
const Life = ({
  count,
  unit,
  error,
  onChange,
}: LifeDraft & { readonly error: unknown; readonly onChange: (life: LifeDraft) => void }) => (
  <div className={styles['row']}>
    <Field
      label="Approvals expire after"
      param="approvals.expires_in_s"
      error={error}
      hint="1 minute to 30 days. A rule can set a different time."
    >
      {(control) => (
        <input
          {...control}
          type="number"
          inputMode="decimal"
          min={1}
          value={count}
          onChange={({ target }) => onChange({ count: target.value, unit })}
        />
      )}
    </Field>
    <Field label="Unit" param="unit" error={null}>
      {(control) => (
        <select {...control} value={unit} onChange={({ target }) => onChange({ count, unit: target.value as Unit })}>
          {Object.keys(UNITS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </Field>
  </div>
);
