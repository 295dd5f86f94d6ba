import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useMembers, useNames } from '../kernel/members.ts';
import { useChanged } from '../kernel/refresh.ts';
import { plain } from '../kernel/said.ts';
import { useSecretChange } from '../kernel/secret-change.ts';
import { useSession } from '../kernel/session.tsx';
import { SelectField, TextField } from '../kit/fields.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import kit from '../kit/kit.module.css';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { FIRST_KEY, KeyFields } from './key-fields.tsx';
import { BudgetFields, DoubleLabel, LabelsFields } from './settings-fields.tsx';
import { budgetsOf, doubleLabel, type LabelRow, labelsOf, type TypedBudgets } from './written.ts';

const NO_BUDGET: TypedBudgets = { calls: '', amount: '', currency: '' };

/** Creates an agent with its first key. */
export const NewAgent = ({ onClose }: { readonly onClose: () => void }) => {
  const changed = useChanged();
  const [, navigate] = useLocation();
  const change = useSecretChange(
    (body: Schemas['CreateAgent'], key) =>
      bodyOf(api.POST('/v1/agents', { params: { header: { 'Idempotency-Key': key } }, body })),
    () => changed(['agents', 'overview']),
  );
  const { data: made, shown } = change;
  if (made === undefined || shown === null) {
    return (
      <AgentForm
        error={change.error}
        isPending={change.isPending}
        onMake={(body) => change.mutate(body)}
        onClose={onClose}
      />
    );
  }
  const goOn = (): void => {
    change.forget();
    onClose();
    navigate(`/agents/${made.id}`);
  };
  return (
    <SecretDialog
      title={`API key of ${plain(made.name)}`}
      secret={shown.secret}
      lost="The agent was created. Revoke this key on the agent’s page and create another one there."
      onClose={goOn}
    >
      <p className={kit['dim']}>
        Give this key to the agent, which sends it with every call as <code>Authorization: Bearer …</code>. The enforced
        policy decides what the agent can do.
      </p>
    </SecretDialog>
  );
};

/** The API's names of the fields that show their own errors. */
const PARAMS = ['name', 'owner', 'labels', 'budgets', 'key.scopes'] as const;

const AgentForm = ({
  error,
  isPending,
  onMake,
  onClose,
}: {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onMake: (body: Schemas['CreateAgent']) => void;
  readonly onClose: () => void;
}) => {
  const { me } = useSession();
  const { data: members } = useMembers();
  const nameOf = useNames();
  const [name, setName] = useState('');
  const [owner, setOwner] = useState(me.user.id);
  const [labels, setLabels] = useState<readonly LabelRow[]>([]);
  const [budgets, setBudgets] = useState(NO_BUDGET);
  const [{ livemode, scopes }, setKey] = useState(FIRST_KEY);
  const double = doubleLabel(labels);
  const others = members?.filter(({ user }) => user !== me.user.id) ?? [];
  const make = (): void =>
    onMake({
      name: name.trim(),
      owner,
      labels: labelsOf(labels),
      budgets: budgetsOf(budgets),
      key: { livemode, scopes: [...scopes] },
    });
  return (
    <FormDialog
      title="New agent"
      action="Create agent and key"
      busy="Creating …"
      isPending={isPending}
      isReady={double === null}
      error={error}
      params={PARAMS}
      onSubmit={make}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Shown to people. The name cannot be changed later."
        param="name"
        error={error}
        placeholder="support-bot"
        maxLength={120}
        data-first=""
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Owner"
        param="owner"
        error={error}
        choices={[
          [me.user.id, me.user.email === null ? 'you' : `${me.user.email} (you)`],
          ...others.map(({ user }) => [user, nameOf(user)] as const),
        ]}
        value={owner}
        onChange={setOwner}
      />
      <LabelsFields rows={labels} error={error} onChange={setLabels} />
      <DoubleLabel name={double} />
      <BudgetFields budgets={budgets} error={error} onChange={setBudgets} />
      <KeyFields typed={{ livemode, scopes }} error={error} prefix="key." onChange={setKey} />
    </FormDialog>
  );
};
