/** A diagnostic, as the service tells it. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
}

interface Decided {
  readonly reason: string;
  /** The sentence that an agent would be refused with. */
  readonly message: string | null;
}

interface JudgedCase extends Decided {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly expect: { readonly decision: string; readonly rule: string | null };
  readonly decision: string;
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

/** The cases that fail, what each asked for, and how many do not. */
export const casesText = (file: string, body: Readonly<Record<string, unknown>>): string => {
  const cases = body['cases'] as readonly JudgedCase[];
  const failed = cases.filter(({ ok }) => !ok);
  const lines = failed.map(
    ({ name, line, expect, decision, ...decided }) =>
      `${file}:${line} failed: ${name}\n    expected ${expected(expect)}, decided ${decision} (${decided.reason})\n${evaluationFault(decided)}`,
  );
  return `${lines.join('')}${counted(cases.length - failed.length, 'case')} passed, ${failed.length} failed.`;
};

const expected = ({ decision, rule }: JudgedCase['expect']): string =>
  rule === null ? decision : `${decision} (rule ${rule})`;

/** Where a condition had no answer, the message says what it could not read. */
const evaluationFault = ({ reason, message }: Decided): string =>
  message !== null && reason.startsWith('evaluation error') ? `    ${message}\n` : '';

/** The decision, below it the rules in their order, and what is wrong with the policy. */
export const dryRunText = (file: string, body: Readonly<Record<string, unknown>>): string => {
  const { outcome, ...decided } = body['decision'] as Decided & { readonly outcome: string };
  const trace = body['trace'] as readonly { readonly rule_id: string; readonly why: string }[];
  const lines = trace.map(({ rule_id, why }) => `  ${rule_id}: ${WHY[why] ?? why}\n`).join('');
  const findings = findingsText(file, body['diagnostics'] as readonly Finding[]);
  const first = `${outcome} (${decided.reason})\n${recordedText(body)}${evaluationFault(decided)}`;
  return `${first}${lines}${budgetsText(body)}${findings}`.trimEnd();
};

/** What was decided of the recorded call. */
const recordedText = ({ recorded }: Readonly<Record<string, unknown>>): string => {
  if (recorded === null) return '';
  const { outcome, code, reason } = recorded as { outcome: string; code: string | null; reason: string | null };
  return `  recorded: ${outcome} (${code ?? reason ?? 'no reason'})\n`;
};

/** What the call would be charged to. */
const budgetsText = ({ budgets }: Readonly<Record<string, unknown>>): string =>
  (budgets as readonly { id: string; period: string; max_calls: number | null; max_spend: Spend | null }[])
    .map(({ id, period, max_calls: calls, max_spend: spend }) => {
      const bounds = [
        ...(calls === null ? [] : [counted(calls, 'call')]),
        ...(spend === null ? [] : [spendText(spend)]),
      ];
      return `  charged to the budget ${id}: ${bounds.join(' and ')} a ${period}\n`;
    })
    .join('');

interface Spend {
  readonly amount: number;
  readonly currency: string;
}

const spendText = ({ amount, currency }: Spend): string => `${amount} of the smallest unit of ${currency}`;

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
