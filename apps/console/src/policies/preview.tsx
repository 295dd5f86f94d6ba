import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { everyAgent } from '../agents/queries.ts';
import { Icon } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { TOOL_GLOB_MAX_LENGTH } from '../kernel/contract.ts';
import { plain } from '../kernel/said.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { comparedWords, counted, OutcomeBadge, OutcomeChange, Rule } from './outcome.tsx';
import styles from './policies.module.css';
import { usePaused } from './queries.ts';
import type { ToolProps } from './tool-props.ts';
import { isTooOften, usePreview } from './use-preview.ts';

type Answer = Schemas['PolicyPreview'];

/** Longer than the pause before the text is checked, so that a half-typed text is not previewed. */
const PAUSE_MS = 1_500;

/** What the text would have decided about the newest calls. */
export const Preview = ({ source, isValid, onRule }: ToolProps) => {
  const [actions, setActions] = useState(1_000);
  const [agent, setAgent] = useState<string | null>(null);
  const [tool, setTool] = useState<string | null>(null);
  const paused = usePaused(source, PAUSE_MS);
  const isSettled = paused === source;
  const query = usePreview({ source: paused, actions, agent, tool }, isSettled && isValid === true);
  const { data, error, failureReason, isPlaceholderData, isFetching, refetch } = query;
  const isOfThis = isSettled && !isPlaceholderData && isValid === true;
  return (
    <>
      <div className={styles['toolHead']}>
        <h2>Preview</h2>
        <Button isSmall disabled={isFetching || isValid !== true} onClick={() => void refetch()}>
          {isFetching ? 'Evaluating …' : 'Refresh'}
        </Button>
      </div>
      <Narrow {...{ actions, setActions, agent, setAgent, tool, setTool }} />
      {isValid === false ? (
        <p className={styles['waits']}>The text has errors. The preview continues when they are corrected.</p>
      ) : null}
      {isFetching && isTooOften(failureReason) ? (
        <p className={styles['waits']} role="status">
          You have reached 20 previews in a minute. The preview continues automatically within a minute.
        </p>
      ) : null}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && isValid !== false ? (
          <Bones count={4} />
        ) : null
      ) : (
        <div
          className={styles['stack']}
          data-stale={isOfThis ? undefined : ''}
          aria-busy={isValid !== false && !isOfThis}
        >
          {isOfThis ? null : <p className={styles['waits']}>This result is for an earlier text.</p>}
          <Result answer={data} onRule={onRule} />
        </div>
      )}
    </>
  );
};

const COUNTS = [100, 500, 1_000, 2_000];

const Narrow = ({
  actions,
  setActions,
  agent,
  setAgent,
  tool,
  setTool,
}: {
  readonly actions: number;
  readonly setActions: (actions: number) => void;
  readonly agent: string | null;
  readonly setAgent: (agent: string | null) => void;
  readonly tool: string | null;
  readonly setTool: (tool: string | null) => void;
}) => {
  const { data: agents } = useQuery(everyAgent);
  const [text, setText] = useState(tool ?? '');
  const ask = (): void => setTool(text.trim() === '' ? null : text.trim());
  return (
    <div className={styles['narrow']}>
      <label className={kit['label']}>
        Number of newest calls{' '}
        <select className={kit['field']} value={actions} onChange={({ target }) => setActions(Number(target.value))}>
          {COUNTS.map((count) => (
            <option key={count} value={count}>
              {count.toLocaleString('en-US')}
            </option>
          ))}
        </select>
      </label>
      <label className={kit['label']}>
        Agent
        <select
          className={kit['field']}
          value={agent ?? ''}
          onChange={({ target }) => setAgent(target.value === '' ? null : target.value)}
        >
          <option value="">all agents</option>
          {agents?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {plain(name)}
            </option>
          ))}
        </select>
      </label>
      <label className={kit['label']}>
        Tool
        <input
          className={kit['field']}
          placeholder="all tools, or crm.*"
          maxLength={TOOL_GLOB_MAX_LENGTH}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={ask}
          onKeyDown={({ key }) => {
            if (key === 'Enter') ask();
          }}
        />
      </label>
    </div>
  );
};

const Result = ({ answer, onRule }: { readonly answer: Answer; readonly onRule: (id: string) => void }) => {
  const { judged, changed, human_denied_now_allowed: denied, from, to, complete, compared_with: compared } = answer;
  if (from === null || to === null) {
    return (
      <p>
        No matching calls are recorded yet. After the first calls, the preview shows what this text would have decided.
      </p>
    );
  }
  return (
    <>
      <p className={kit['dim']}>
        {counted(judged, 'call')}, <Time at={from} isExact /> to <Time at={to} isExact />, evaluated with the recorded
        inputs.
        {complete ? '' : ' Incomplete: the preview stops after 3 seconds.'}
      </p>
      <p className={styles['number']}>
        {changed.toLocaleString('en-US')} <span>decided differently than {comparedWords(compared, 'by ')}</span>
      </p>
      {compared.basis === 'recorded' ? null : (
        <p className={kit['dim']}>
          {answer.changed_from_recorded.toLocaleString('en-US')} decided differently than recorded at the time.
        </p>
      )}
      {denied === 0 ? null : (
        <p className={styles['danger']}>
          <Icon name="triangle" /> {counted(denied, 'call')} denied by a person would be allowed without approval.
        </p>
      )}
      <Changes answer={answer} onRule={onRule} />
      <Unjudged answer={answer} />
      <Samples answer={answer} />
    </>
  );
};

const Changes = ({ answer, onRule }: { readonly answer: Answer; readonly onRule: (id: string) => void }) => (
  <ul className={styles['changes']}>
    {answer.changes.map(({ from, to, count, by_rule: rules }) => (
      <li key={`${from} ${to}`}>
        <div>
          <OutcomeChange from={from} to={to} />
          <strong className={kit['number']}>{count.toLocaleString('en-US')}</strong>
        </div>
        <ul>
          {rules.map(({ rule_id: id, count: some }) => (
            <li key={id ?? ''}>
              by <Rule id={id} onRule={onRule} />
              <span className={kit['number']}>{some.toLocaleString('en-US')}</span>
            </li>
          ))}
        </ul>
      </li>
    ))}
  </ul>
);

const WHY_NOT = {
  not_asked: 'decided without a policy (Stop, unknown tool or budget)',
  payload_removed: 'the arguments were removed at the end of the retention period',
  payload_damaged: 'the stored input does not match its digest: run an audit',
  time_limit: 'the evaluation takes too long; enforced, such a version denies these calls',
} as const;

const Unjudged = ({ answer }: { readonly answer: Answer }) => {
  const reasons = (Object.keys(WHY_NOT) as (keyof typeof WHY_NOT)[]).filter((why) => answer.unjudged_because[why] > 0);
  if (reasons.length === 0) return null;
  return (
    <ul className={styles['unjudged']} aria-label="Not evaluated">
      {reasons.map((why) => (
        <li key={why}>
          <span className={kit['number']}>{answer.unjudged_because[why].toLocaleString('en-US')}</span> not evaluated:{' '}
          {WHY_NOT[why]}
        </li>
      ))}
    </ul>
  );
};

const Samples = ({ answer: { samples } }: { readonly answer: Answer }) =>
  samples.length === 0 ? null : (
    <>
      <h3>{samples.length === 1 ? 'The call' : 'Changed calls, newest first'}</h3>
      <ul className={styles['samples']}>
        {samples.map((one) => (
          <li key={one.action}>
            <Link href={`/actions/${one.action}`} data-row>
              <code>
                <Said text={one.tool} />
              </code>
            </Link>
            <small>
              <Said text={one.agent.name} />, <Time at={one.created_at} />
            </small>
            {one.from === one.to ? <OutcomeBadge outcome={one.to} /> : <OutcomeChange from={one.from} to={one.to} />}
            {one.human_denied ? <strong className={styles['danger']}>Denied by a person</strong> : null}
          </li>
        ))}
      </ul>
    </>
  );
