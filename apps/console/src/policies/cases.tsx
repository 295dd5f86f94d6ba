import { useMutation } from '@tanstack/react-query';
import { type RefObject, useRef, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { Failure } from '../kit/failure.tsx';
import { Button, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { exampleCases, toolLeftOpen } from './case-file.ts';
import { FindingsList } from './findings.tsx';
import { counted, OutcomeBadge, Rule } from './outcome.tsx';
import styles from './policies.module.css';
import { useIsUnknownTool, useTools } from './queries.ts';
import type { ToolProps } from './tool-props.ts';

type Answer = Schemas['PolicyTest'];
type Case = Answer['cases'][number];

const FILE_MAX_BYTES = 1_048_576;

/** Case files by policy id. Kept outside of the component, so that leaving the screen loses none. */
const files = new Map<string, string>();

/** The case file of a policy as the person last left it, else one to begin with; and a function to change it. */
const useCases = (policy: string): readonly [string, (text: string) => void] => {
  const [written, setWritten] = useState(files.get(policy) ?? null);
  const { data: tools } = useTools();
  const write = (text: string): void => {
    files.set(policy, text);
    setWritten(text);
  };
  return [written ?? exampleCases(tools ?? []), write];
};

/** Tests the policy's text with a case file: described calls, each with the expected decision. */
export const Cases = ({ policy, source, isValid, onRule }: ToolProps) => {
  const [cases, write] = useCases(policy.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const test = useMutation({
    mutationFn: (sent: { readonly source: string; readonly cases: string }) =>
      bodyOf(api.POST('/v1/policies/test', { body: sent })),
  });
  const refusal = test.error instanceof ApiError ? test.error : null;
  const isOfThis = test.variables?.source === source && test.variables.cases === cases;
  return (
    <>
      <div className={styles['toolHead']}>
        <h2>Cases</h2>
        <Button isSmall disabled={test.isPending || isValid === false} onClick={() => test.mutate({ source, cases })}>
          {test.isPending ? 'Running …' : 'Run cases'}
        </Button>
      </div>
      <p className={kit['dim']}>A YAML file of calls and the expected decision for each.</p>
      {isValid === false ? <p className={styles['waits']}>The text has errors. Correct them first.</p> : null}
      <label className={kit['label']}>
        Cases (YAML)
        <textarea
          ref={field}
          className={styles['yaml']}
          rows={12}
          spellCheck={false}
          aria-invalid={refusal?.param === 'cases'}
          value={cases}
          onChange={({ target }) => write(target.value)}
        />
      </label>
      <OpenFile onText={write} />
      {test.error === null ? null : <Failure error={test.error} />}
      {refusal === null || refusal.diagnostics.length === 0 ? null : (
        <FindingsList
          findings={refusal.diagnostics}
          onGo={(line) => (refusal.param === 'cases' ? goToLine(field, line) : undefined)}
        />
      )}
      {test.data === undefined || test.isPending ? null : (
        <div className={styles['stack']} data-stale={isOfThis ? undefined : ''}>
          {isOfThis ? null : <p className={styles['waits']}>This result is for an earlier text.</p>}
          <Result
            answer={test.data}
            text={test.variables?.cases ?? ''}
            onRule={onRule}
            onLine={(line) => goToLine(field, line)}
          />
        </div>
      )}
    </>
  );
};

const goToLine = (field: RefObject<HTMLTextAreaElement | null>, line: number): void => {
  const area = field.current;
  if (area === null) return;
  const lines = area.value.split('\n');
  const from = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(from, from + (lines[line - 1] ?? '').length);
  area.scrollTop = ((line - 2) / Math.max(1, lines.length)) * area.scrollHeight;
};

const OpenFile = ({ onText }: { readonly onText: (text: string) => void }) => {
  const [problem, setProblem] = useState<string | null>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const isTooLarge = file.size > FILE_MAX_BYTES;
    setProblem(isTooLarge ? 'The file has more than 1 MiB. Split it.' : null);
    if (!isTooLarge) onText(await file.text());
  };
  return (
    <label className={kit['label']}>
      Or open a file{' '}
      <input
        type="file"
        accept=".yaml,.yml,text/yaml"
        className={kit['field']}
        onChange={({ target }) => void read(target.files?.[0])}
      />
      {problem === null ? null : <span role="alert">{problem}</span>}
    </label>
  );
};

const Result = ({
  answer: { passed, failed, cases },
  text,
  onRule,
  onLine,
}: {
  readonly answer: Answer;
  /** The case file that was run. */
  readonly text: string;
  readonly onRule: (id: string) => void;
  readonly onLine: (line: number) => void;
}) => (
  <>
    <p className={styles['verdict']} data-tone={failed === 0 ? 'ok' : 'bad'} role="status">
      <Icon name={failed === 0 ? 'checkCircle' : 'crossCircle'} />
      {failed === 0 ? `${counted(passed, 'case')} passed` : `${failed} of ${counted(passed + failed, 'case')} failed`}
    </p>
    <ul className={styles['samples']}>
      {[...cases]
        .sort((one, other) => Number(one.ok) - Number(other.ok))
        .map((each) => (
          <CaseRow key={each.line} one={each} tool={toolLeftOpen(text, each.line)} onRule={onRule} onLine={onLine} />
        ))}
    </ul>
  </>
);

const CaseRow = ({
  one,
  tool,
  onRule,
  onLine,
}: {
  readonly one: Case;
  /** The tool of the case, if the case does not declare its side effect; else null. */
  readonly tool: string | null;
  readonly onRule: (id: string) => void;
  readonly onLine: (line: number) => void;
}) => {
  const isUnknown = useIsUnknownTool();
  return (
    <li>
      <button type="button" className={styles['ruleLink']} title="Go to this case" onClick={() => onLine(one.line)}>
        <Icon name={one.ok ? 'check' : 'cross'} size={14} />
        <span className="visually-hidden">{one.ok ? 'passed' : 'failed'}</span> <Said text={one.name} />
      </button>
      <OutcomeBadge outcome={one.decision} />
      <small>
        by {one.code === 'policy_unavailable' ? <Said text={one.reason} /> : <Rule id={one.rule_id} onRule={onRule} />}
        {one.ok ? null : (
          <strong className={styles['danger']}>
            {' '}
            expected {one.expect.decision === 'require_approval' ? 'require approval' : one.expect.decision}
            {one.expect.rule === null ? null : (
              <>
                {' '}
                by <code>{one.expect.rule}</code>
              </>
            )}
          </strong>
        )}
      </small>
      {tool !== null && isUnknown(tool) ? (
        <p className={styles['caseNote']}>
          No connector provides <code>{tool}</code>, so its side effect is <code>unknown</code>.
        </p>
      ) : null}
    </li>
  );
};
