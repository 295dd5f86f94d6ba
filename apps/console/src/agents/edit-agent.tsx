import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { plain } from '../kernel/said.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { agentQuery } from './queries.ts';
import { BudgetFields, DoubleLabel, LabelsFields } from './settings-fields.tsx';
import { budgetsOf, changedBudgets, doubleLabel, labelRowsOf, labelsOf, typedBudgetsOf } from './written.ts';

type Agent = Schemas['Agent'];

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Changes an agent's labels and budgets. Each of the two changes has a deed of its own. */
export const EditAgent = ({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) => {
  const changed = useChanged();
  const [labels, setLabels] = useState(() => labelRowsOf(agent.labels));
  const [budgets, setBudgets] = useState(() => typedBudgetsOf(agent.budgets));
  const save = useChange(
    (body: Schemas['UpdateAgent']) =>
      bodyOf(api.PATCH('/v1/agents/{id}', { params: { path: { id: agent.id } }, body })),
    (saved) => {
      changed(['agents', 'overview'], { of: agentQuery(agent.id), is: saved });
      onClose();
    },
  );
  const double = doubleLabel(labels);
  const submit = (): void => {
    // Only changed fields are sent, so that a change which somebody else made meanwhile is not undone.
    const nextLabels = labelsOf(labels);
    const nextBudgets = changedBudgets(agent.budgets, budgetsOf(budgets));
    save.mutate({
      ...(isSame(nextLabels, agent.labels) ? {} : { labels: nextLabels }),
      ...(isSame(nextBudgets, {}) ? {} : { budgets: nextBudgets }),
    });
  };
  return (
    <FormDialog
      title={`Change ${plain(agent.name)}`}
      action="Save labels and budgets"
      busy="Saving …"
      isPending={save.isPending}
      isReady={double === null}
      error={save.error}
      params={['labels', 'budgets']}
      onSubmit={submit}
      onClose={onClose}
    >
      <LabelsFields rows={labels} error={save.error} onChange={setLabels} />
      <DoubleLabel name={double} />
      <BudgetFields budgets={budgets} error={save.error} onChange={setBudgets} />
    </FormDialog>
  );
};
