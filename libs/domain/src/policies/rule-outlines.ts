import { type DecisionOutcome, Turns } from '../kernel/index.js';
import { checkSource } from './check-source.js';
import { Report } from './diagnostics.js';
import { readPolicy } from './read-policy.js';
import { parseYaml } from './yaml-nodes.js';

/** A rule as somebody looks it up: who decided so, and where it is written. */
export interface RuleOutline {
  readonly id: string;
  readonly decision: DecisionOutcome;
  readonly description: string | null;
  /** Of its id in the source, from 1. */
  readonly line: number;
}

const turns = new Turns();

/**
 * The rules of a source in their order, without their conditions: a piece at a time, as it is compiled. Null for a source that
 * this version cannot read, whatever the one that saved it could.
 */
export const outlineRulesInTurns = async (text: string): Promise<readonly RuleOutline[] | null> => {
  const { source, diagnostics } = checkSource(text);
  if (diagnostics.hasErrors) return null;
  const pieces = parseYaml(source, diagnostics);
  for (;;) {
    await turns.next();
    const piece = pieces.next();
    if (piece.done !== true) continue;
    const policy = piece.value === undefined ? null : readPolicy(new Report(diagnostics), piece.value);
    if (policy === null || diagnostics.hasErrors) return null;
    return policy.rules.map(({ id, idEntry, decision, description }) => ({
      id,
      decision,
      description,
      line: source.lineIndexAt(idEntry.place.offset) + 1,
    }));
  }
};
