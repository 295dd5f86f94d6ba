import { Icon } from '../design/icon.tsx';
import type { Finding } from '../kernel/errors.ts';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { counted } from './outcome.tsx';
import styles from './policies.module.css';

/** The findings about a source; a press on one goes to its place. */
export const FindingsList = ({
  findings,
  onGo,
}: {
  readonly findings: readonly Finding[];
  readonly onGo: (line: number, column: number) => void;
}) => (
  <ol className={styles['findings']}>
    {findings.map((finding, index) => (
      <li key={`${index} ${finding.line} ${finding.column} ${finding.code}`}>
        <button type="button" onClick={() => onGo(finding.line, finding.column)}>
          <span data-tone={finding.severity}>
            <Icon name={finding.severity === 'error' ? 'alert' : 'triangle'} />
            <span className="visually-hidden">{finding.severity}</span>
          </span>
          <span className={kit['number']}>
            {finding.line}:{finding.column}
          </span>
          <span>
            <Said text={finding.message} />{' '}
            <small>
              <Said text={finding.hint} /> <code>{finding.code}</code>
            </small>
          </span>
        </button>
      </li>
    ))}
  </ol>
);

/** `2 errors, 1 warning` */
export const countsOf = (findings: readonly Finding[]): string => {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const parts = [errors > 0 && counted(errors, 'error'), warnings > 0 && counted(warnings, 'warning')];
  return parts.filter((part) => part !== false).join(', ') || 'No problems found';
};
