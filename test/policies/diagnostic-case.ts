import type { PolicyDiagnosticCode } from '#libs/domain/policies';

export const HEAD = 'version: 1\ndefault: deny\n';
export const rule = (...lines: readonly string[]) =>
  `${HEAD}rules:\n  - id: a\n${lines.map((line) => `    ${line}\n`).join('')}`;
export const when = (expression: string) => rule(`when: ${expression}`, 'decision: allow');

export interface DiagnosticCase {
  readonly title: string;
  readonly code: PolicyDiagnosticCode;
  readonly source: string;
  readonly at: readonly [line: number, column: number];
  readonly path?: string;
  /** Part of the hint, where it is more exact than the code's own. */
  readonly hint?: string;
  readonly rule?: string;
}
