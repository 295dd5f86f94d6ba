/** A diagnostic, as the service tells it. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
}

interface JudgedCase {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly decision: string;
  readonly reason: string;
}

/** `file:line:column`, which editors and CI make a link of. */
export const findingsText = (file: string, findings: readonly Finding[]): string =>
  findings
    .map(
      ({ line, column, severity, code, message, hint }) =>
        `${file}:${line}:${column} ${severity} ${code}: ${message}\n    ${hint}\n`,
    )
    .join('');

export const countsText = (findings: readonly Finding[]): string => {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (findings.length === 0) return 'No findings.';
  return `${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}.`;
};

/** The cases that fail, and how many do not. */
export const casesText = (file: string, body: Readonly<Record<string, unknown>>): string => {
  const cases = body['cases'] as readonly JudgedCase[];
  const failed = cases.filter(({ ok }) => !ok);
  const lines = failed.map(
    ({ name, line, decision, reason }) => `${file}:${line} failed: ${name}\n    ${decision} (${reason})\n`,
  );
  return `${lines.join('')}${counted(cases.length - failed.length, 'case')} passed, ${failed.length} failed.`;
};

/** The decision, and below it the rules in their order. */
export const dryRunText = (body: Readonly<Record<string, unknown>>): string => {
  const { outcome, reason } = body['decision'] as { readonly outcome: string; readonly reason: string };
  const trace = body['trace'] as readonly { readonly rule_id: string; readonly why: string }[];
  return [`${outcome} (${reason})`, ...trace.map(({ rule_id, why }) => `  ${rule_id}: ${WHY[why] ?? why}`)].join('\n');
};

const WHY: Readonly<Record<string, string>> = {
  tools: 'is about other tools',
  agents: 'is about other agents',
  labels: 'is about agents with other labels',
  mode: 'is about another mode',
  side_effect: 'is about another side effect',
  when_false: 'its condition is false',
  fact_missing: 'allows by a fact that the call does not have',
  applies: 'applies',
  no_answer: 'its condition has no answer',
};

const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;
