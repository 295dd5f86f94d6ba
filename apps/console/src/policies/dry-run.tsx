import { useMutation, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { actionsToChoose } from '../gate/queries.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { plain } from '../kernel/said.ts';
import { useSession } from '../kernel/session.tsx';
import { serverNow } from '../kernel/clock.ts';
import { Failure } from '../kit/failure.tsx';
import { Button, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { DryRunResult } from './dry-run-result.tsx';
import { readDescribed, type Described } from './described-call.ts';
import styles from './policies.module.css';
import { useIsUnknownTool, useTools } from './queries.ts';
import type { ToolProps } from './tool-props.ts';

type Asked = Pick<Schemas['DryRunPolicy'], 'action' | 'input'>;

const RECENT = 20;

/** Runs the text on one call, recorded or described, and shows the decision and its reason. */
export const DryRun = ({ source, isValid, onRule }: ToolProps) => {
  const [isDescribed, setDescribed] = useState(false);
  const run = useMutation({
    mutationFn: (sent: Asked & { readonly source: string }) => bodyOf(api.POST('/v1/policies/dry-run', { body: sent })),
  });
  const refusal = run.error instanceof ApiError ? run.error : null;
  const name = useId();
  const form = {
    id: name,
    param: refusal?.param ?? null,
    onRun: (asked: Asked) => run.mutate({ ...asked, source }),
  };
  const isOfThis = run.variables?.source === source;
  return (
    <>
      <div className={styles['toolHead']}>
        <h2>Dry run</h2>
        <Button isSmall type="submit" form={name} disabled={run.isPending || isValid === false}>
          {run.isPending ? 'Running …' : 'Ask'}
        </Button>
      </div>
      <p className={kit['dim']}>Evaluate one call against this text and see why. Nothing is run or stored.</p>
      <fieldset className={styles['choice']}>
        <legend className="visually-hidden">Call</legend>
        {[false, true].map((described) => (
          <label key={String(described)}>
            <input
              type="radio"
              name={name}
              checked={isDescribed === described}
              onChange={() => setDescribed(described)}
            />
            {described ? 'Describe a call' : 'Recorded call'}
          </label>
        ))}
      </fieldset>
      {isValid === false ? <p className={styles['waits']}>The text has errors. Correct them first.</p> : null}
      {isDescribed ? <DescribedForm {...form} /> : <RecordedForm {...form} />}
      {run.error === null ? null : <Failure error={run.error} />}
      {run.data === undefined || run.isPending ? null : (
        <div className={styles['stack']} data-stale={isOfThis ? undefined : ''}>
          {isOfThis ? null : <p className={styles['waits']}>This result is for an earlier text.</p>}
          <DryRunResult answer={run.data} onRule={onRule} />
        </div>
      )}
    </>
  );
};

interface FormProps {
  /** The id of the form, by which the button in the heading submits it. */
  readonly id: string;
  /** The field that the service's error is about. */
  readonly param: string | null;
  readonly onRun: (asked: Asked) => void;
}

const RecordedForm = ({ id, param, onRun }: FormProps) => {
  const { times } = useSession();
  const { data: recent } = useQuery(actionsToChoose(RECENT));
  const [action, setAction] = useState('');
  return (
    <form
      id={id}
      className={styles['stack']}
      onSubmit={(event) => {
        event.preventDefault();
        onRun({ action: action.trim() });
      }}
    >
      <label className={kit['label']}>
        Recent action
        <select className={kit['field']} value={action} onChange={({ target }) => setAction(target.value)}>
          <option value="">choose an action</option>
          {recent?.data.map(({ id, tool, agent, created_at: at }) => (
            <option key={id} value={id}>
              {times.short(at, serverNow())} {plain(tool)} by {plain(agent.name)}
            </option>
          ))}
        </select>
      </label>
      <label className={kit['label']}>
        Or action id
        <input
          className={kit['field']}
          placeholder="act_…"
          required
          spellCheck={false}
          aria-invalid={param === 'action'}
          value={action}
          onChange={({ target }) => setAction(target.value)}
        />
      </label>
    </form>
  );
};

const DescribedForm = ({ id, param, onRun }: FormProps) => {
  const { data: tools } = useTools();
  const isUnknown = useIsUnknownTool();
  const [call, setCall] = useState<Described>({ tool: '', args: '{}', agent: '', onBehalfOf: '', mode: 'gateway' });
  const [problem, setProblem] = useState<string | null>(null);
  const list = useId();
  const change = (part: Partial<Described>): void => setCall({ ...call, ...part });
  const isAt = (field: string): boolean => param === `input.${field}` || param?.startsWith(`input.${field}.`) === true;
  return (
    <form
      id={id}
      className={styles['stack']}
      onSubmit={(event) => {
        event.preventDefault();
        const read = readDescribed(call);
        setProblem('problem' in read ? read.problem : null);
        if ('input' in read) onRun({ input: read.input });
      }}
    >
      <Text label="Tool" value={call.tool} isBad={isAt('tool')} list={list} onChange={(tool) => change({ tool })} />
      <datalist id={list}>
        {tools?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {call.tool.trim() !== '' && isUnknown(call.tool.trim()) ? (
        <p className={kit['dim']}>
          No connector provides this tool, so its side effect is <code>unknown</code>.
        </p>
      ) : null}
      <label className={kit['label']}>
        Arguments (JSON)
        <textarea
          className={styles['yaml']}
          rows={5}
          spellCheck={false}
          aria-invalid={problem !== null || isAt('args')}
          value={call.args}
          onChange={({ target }) => change({ args: target.value })}
        />
        {problem === null ? null : (
          <span className={styles['danger']} role="alert">
            <Said text={problem} />
          </span>
        )}
      </label>
      <Text
        label="Agent name (default: test-agent)"
        value={call.agent}
        isBad={isAt('agent')}
        onChange={(agent) => change({ agent })}
      />
      <Text
        label="On behalf of (optional)"
        value={call.onBehalfOf}
        isBad={isAt('user')}
        onChange={(onBehalfOf) => change({ onBehalfOf })}
      />
      <RunBy mode={call.mode} onChange={(mode) => change({ mode })} />
    </form>
  );
};

const RunBy = ({
  mode,
  onChange,
}: {
  readonly mode: Described['mode'];
  readonly onChange: (mode: Described['mode']) => void;
}) => (
  <label className={kit['label']}>
    {' '}
    Mode{' '}
    <select
      className={kit['field']}
      value={mode}
      onChange={({ target }) => onChange(target.value === 'proxy' ? 'proxy' : 'gateway')}
    >
      <option value="gateway">gateway: the service runs the tool</option>
      <option value="proxy">proxy: the agent runs the tool</option>
    </select>
  </label>
);

const Text = ({
  label,
  value,
  isBad,
  list,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly isBad: boolean;
  readonly list?: string;
  readonly onChange: (text: string) => void;
}) => (
  <label className={kit['label']}>
    {label}
    <input
      className={kit['field']}
      spellCheck={false}
      aria-invalid={isBad}
      required={list !== undefined}
      list={list}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);
