import { type parse } from '@bufbuild/cel';

/** The package's tree (cel.expr.Expr), named without importing the schema package behind it. */
export type ParsedExpression = ReturnType<typeof parse>;
export type Expression = NonNullable<ParsedExpression['expr']>;
type Kind = Exclude<Expression['exprKind'], { case: undefined }>;
export type NodeOf<Case extends Kind['case']> = Extract<Kind, { case: Case }>['value'];

export type Call = NodeOf<'callExpr'>;
export type Select = NodeOf<'selectExpr'>;
export type Comprehension = NodeOf<'comprehensionExpr'>;
export type Constant = NodeOf<'constExpr'>['constantKind'];

/** The literal text of a node, or null when it is no text literal. */
export const literalText = (expression: Expression | undefined): string | null => {
  const constant = literal(expression);
  return constant?.case === 'stringValue' ? constant.value : null;
};

/** The literal text or whole number of a node. */
export const literalValue = (expression: Expression): string | bigint | null => {
  const constant = literal(expression);
  return constant?.case === 'stringValue' || constant?.case === 'int64Value' ? constant.value : null;
};

const literal = (expression: Expression | undefined): Constant | null =>
  expression?.exprKind.case === 'constExpr' ? expression.exprKind.value.constantKind : null;

/** A child that the parser always fills in. */
export const required = (expression: Expression | undefined): Expression => {
  if (expression === undefined) throw new Error('the syntax tree lacks a node');
  return expression;
};

/** `agent.labels.team` for a chain of names; null for anything else. */
export const pathOf = ({ exprKind }: Expression): string | null => {
  if (exprKind.case === 'identExpr') return exprKind.value.name;
  if (exprKind.case !== 'selectExpr' || exprKind.value.operand === undefined) return null;
  const operand = pathOf(exprKind.value.operand);
  return operand === null ? null : `${operand}.${exprKind.value.field}`;
};
