import type { JsonObject } from '#libs/crypto';
import { MACRO_USES, operatorOf } from './cel/check-function.js';
import { FACTS } from './cel/facts.js';
import { SIGNATURES, TYPE_NAMES, type Signature } from './cel/signatures.js';
import type { CelType, Field } from './cel/types.js';
import { OFFERED_LEVELS } from './policy-source.js';
import { MATCH_FIELDS } from './read-match.js';
import { APPROVAL_FIELDS } from './read-approval.js';
import { CALL_MODES, DECISION_OUTCOMES, PERIOD_KINDS, SIDE_EFFECTS } from '../kernel/index.js';
import { BUDGET_FIELDS } from './read-budgets.js';
import { LANGUAGE_VERSION, POLICY_FIELDS } from './read-policy.js';
import { RULE_FIELDS } from './read-rule.js';
import { BOOLEANS } from './yaml-nodes.js';

/** What an editor says of a field beside its name. A clause without a full stop, as of a fact. */
interface FieldNote {
  readonly meaning: string;
  readonly isRequired?: true;
  /** All it can be; absent where it is not one of a few. */
  readonly values?: readonly (string | number)[];
}

type Notes<Fields extends readonly string[]> = Readonly<Record<Fields[number], FieldNote>>;

const POLICY_NOTES: Notes<typeof POLICY_FIELDS> = {
  version: { meaning: 'the version of the language', isRequired: true, values: [LANGUAGE_VERSION] },
  default: { meaning: 'what holds for a call that no rule applies to', isRequired: true, values: DECISION_OUTCOMES },
  rules: { meaning: 'the rules, in order: the first that applies decides' },
  budgets: { meaning: 'what calls may use up together in a period' },
};

const RULE_NOTES: Notes<typeof RULE_FIELDS> = {
  id: { meaning: 'names the rule in decisions and deeds', isRequired: true },
  description: { meaning: 'for people' },
  match: { meaning: 'which calls the rule is about; all where it is left out' },
  when: { meaning: 'a condition in CEL' },
  decision: { meaning: 'what holds for a call that the rule applies to', isRequired: true, values: DECISION_OUTCOMES },
  message: { meaning: 'what the agent reads when it is refused' },
  verify: { meaning: 'the level of the check that a call of the rule gets', values: OFFERED_LEVELS },
  approval: { meaning: 'who is asked, how many must approve, by when and how; with require_approval alone' },
};

const APPROVAL_NOTES: Notes<typeof APPROVAL_FIELDS> = {
  approvers: { meaning: 'roles such as role:admin, which takes everybody of at least that role, and ids of people' },
  required: { meaning: 'how many different people must approve' },
  expires_in: { meaning: 'how long the call waits: a number and m, h or d' },
  signed: { meaning: 'whether who approves must sign with a passkey', values: BOOLEANS },
};

const BUDGET_NOTES: Notes<typeof BUDGET_FIELDS> = {
  id: { meaning: 'names the budget in refusals, in every version of the policy', isRequired: true },
  match: { meaning: 'which calls are charged to it; all where it is left out' },
  period: {
    meaning: 'how long it lasts, in the time zone of the organization',
    isRequired: true,
    values: PERIOD_KINDS,
  },
  max_calls: { meaning: 'calls that it allows in a period' },
  max_spend: { meaning: 'what they may spend: an amount in the smallest unit of a currency' },
};

const MATCH_NOTES: Notes<typeof MATCH_FIELDS> = {
  tools: { meaning: 'globs over the qualified name' },
  agents: { meaning: 'globs over the name of the agent' },
  labels: { meaning: 'label keys and globs over their values; the agent must have each' },
  mode: { meaning: 'who runs the tool', values: CALL_MODES },
  side_effect: { meaning: 'what the tool may do', values: SIDE_EFFECTS },
};

const fieldsOf = <Name extends string>(
  names: readonly Name[],
  notes: Readonly<Record<Name, FieldNote>>,
): JsonObject[] =>
  names.map((name) => {
    const { meaning, isRequired = false, values } = notes[name];
    return { name, required: isRequired, values: values ? [...values] : null, description: meaning };
  });

interface FactContext {
  readonly prefix: string;
  readonly presence: 'always' | 'optional';
  readonly suppliedBy: readonly string[] | null;
}

/** Leaves by their path, and the groups that may be absent. */
const factsOf = (fields: Readonly<Record<string, Field>>, outer: FactContext): JsonObject[] =>
  Object.entries(fields).flatMap(([name, { type, presence, meaning, suppliedBy = outer.suppliedBy }]) => {
    if (presence === 'unavailable') return [];
    const path = `${outer.prefix}${name}`;
    const inner = presence === 'optional' ? presence : outer.presence;
    const fact = {
      path,
      type: typeText(type),
      values: type.kind === 'string' && type.oneOf ? [...type.oneOf] : null,
      presence: inner,
      connector_types: suppliedBy && [...suppliedBy],
      description: meaning,
    };
    if (type.kind !== 'record') return [fact];
    const within = factsOf(type.fields, { prefix: `${path}.`, presence: inner, suppliedBy });
    return presence === 'optional' ? [fact, ...within] : within;
  });

/** As the documentation of CEL writes types; `any` where only the call knows. */
const typeText = (type: CelType): string => {
  switch (type.kind) {
    case 'dyn':
    case 'error':
      return 'any';
    case 'list':
      return `list(${typeText(type.element)})`;
    case 'map':
      return `map(string, ${typeText(type.value)})`;
    case 'nullable':
      return `${typeText(type.of)} or null`;
    case 'record':
      return 'group';
    default:
      return type.kind;
  }
};

const signatureView = ({ target, args, result }: Signature): JsonObject => ({
  target: target ? typeText(target) : null,
  arguments: args.map(typeText),
  result: typeText(result),
});

/** These have rules of their own in the checker, and no signature. */
const OTHER_OPERATORS = ['==', '!=', 'in', '? :'];

const named = Object.entries(SIGNATURES).filter(([name]) => /^[a-z]/.test(name));
const operators = Object.keys(SIGNATURES).flatMap((name) => operatorOf(name) ?? []);

/**
 * Every name that a policy of this version can hold, for whoever helps to write one: made of what the reader and the compiler
 * themselves go by. What the grammar knows and a policy cannot be saved with yet is not in it.
 */
export const POLICY_LANGUAGE: JsonObject = {
  object: 'policy_language',
  version: LANGUAGE_VERSION,
  policy: fieldsOf(POLICY_FIELDS, POLICY_NOTES),
  rule: fieldsOf(RULE_FIELDS, RULE_NOTES),
  match: fieldsOf(MATCH_FIELDS, MATCH_NOTES),
  approval: fieldsOf(APPROVAL_FIELDS, APPROVAL_NOTES),
  budget: fieldsOf(BUDGET_FIELDS, BUDGET_NOTES),
  facts: factsOf(FACTS, { prefix: '', presence: 'always', suppliedBy: null }),
  functions: named.map(([name, signatures]) => ({ name, signatures: signatures.map(signatureView) })),
  macros: Object.entries(MACRO_USES).map(([name, example]) => ({ name, example })),
  operators: [...new Set([...operators, ...OTHER_OPERATORS])],
  type_names: [...TYPE_NAMES],
};
