import { qualifiedName } from '#libs/domain/connectors';
import { isPlainFunction } from './plain-functions.js';
import { refusal } from './refusal.js';
import { shown } from './sql-names.js';
import type { SqlRules } from './sql-statement.js';
import { type Fields, textIn } from './tree.js';

const CATALOG = 'pg_catalog';
const CATALOGS = new Set([CATALOG, 'information_schema']);
const SCHEMAS_ADVICE = 'Name what lies in the schemas of this connector';
/** Schemas and functions of the system's own begin so; the search path finds them before any other. */
const SYSTEM = 'pg_';

const unqualified = (names: readonly string[]): string | null => {
  const [schema, name] = names;
  if (names.length === 1) return schema ?? null;
  return names.length === 2 && schema === CATALOG ? (name ?? null) : null;
};

/** The table that is read, or changed where `isTarget`, in its one spelling. */
export const tableNamed = (range: Fields, rules: SqlRules, isTarget: boolean): string => {
  if (range['catalogname'] !== undefined) {
    throw refusal('name a database in front of a schema', 'Name tables as schema.table');
  }
  const name = textIn(range['relname']);
  const schema = range['schemaname'] === undefined ? null : textIn(range['schemaname']);
  if (schema === null && name.startsWith(SYSTEM)) {
    throw refusal(
      `name ${shown(name)} without its schema`,
      'Write schema.table: PostgreSQL looks for it in its catalog',
    );
  }
  const owner = schema ?? rules.schemas[0];
  if (owner === undefined) throw refusal('name a table', 'This connector has no schemas');
  if (CATALOGS.has(owner)) checkCatalog(rules, isTarget);
  else if (!rules.schemas.includes(owner)) throw refusal(`name the schema ${shown(owner)}`, SCHEMAS_ADVICE);
  return qualifiedName([owner, name]);
};

const checkCatalog = (rules: SqlRules, isTarget: boolean): void => {
  if (isTarget) throw refusal('change the catalog', 'Name a table of your own');
  if (rules.tool !== 'query') throw refusal('read the catalog here', 'Use the tool query for it');
  if (!rules.allowCatalog) {
    throw refusal('read the catalog', 'Ask for allow_catalog in the config of this connector, or leave it out');
  }
};

/** How the function is named in the facts: one of PostgreSQL's own has one spelling, with its schema or without. */
export const functionNamed = (names: readonly string[], rules: SqlRules): string => {
  const plain = unqualified(names);
  if (plain !== null && isPlainFunction(plain)) return plain;
  const name = qualifiedName(names);
  // Both as in the config, where a name is seldom in quotes, and in the one spelling.
  if (rules.allowedFunctions.includes(name)) return name;
  throw refusal(
    `call the function ${names.map(shown).join('.')}`,
    'Call a plain function of PostgreSQL, or ask for it in allowed_functions of this connector',
  );
};

/** Types of the catalog's names: a cast to one tells what there is. An array of it begins with an underscore. */
const TELLING_TYPE = /^_*(reg[a-z]+|aclitem|pg_(?!lsn$|snapshot$).*)$/;

export const checkType = (names: readonly string[], rules: SqlRules): void => {
  const plain = unqualified(names);
  const [schema, name] = names;
  if (plain !== null) {
    if (TELLING_TYPE.test(plain)) {
      throw refusal(`use the type ${shown(plain)}`, 'Compare names as text, or pass the value as a parameter');
    }
  } else if (names.length !== 2 || name === undefined || !rules.schemas.includes(schema ?? '')) {
    throw refusal(`use a type of the schema ${shown(schema ?? '')}`, SCHEMAS_ADVICE);
  }
};

export const checkCollation = (names: readonly string[], rules: SqlRules): void => {
  const [schema] = names;
  if (unqualified(names) !== null || (names.length === 2 && rules.schemas.includes(schema ?? ''))) return;
  throw refusal(`use a collation of the schema ${shown(schema ?? '')}`, SCHEMAS_ADVICE);
};

/** A schema's own operator is a function by another name. */
export const checkOperator = (names: readonly string[]): void => {
  if (unqualified(names) !== null) return;
  throw refusal(`use an operator of the schema ${shown(names[0] ?? '')}`, 'Write the operator without OPERATOR(…)');
};

export const checkSampling = (names: readonly string[]): void => {
  const method = unqualified(names);
  if (method === 'bernoulli' || method === 'system') return;
  throw refusal(`sample rows by ${names.map(shown).join('.')}`, 'Sample by BERNOULLI or SYSTEM');
};

/** `(value).f` calls the function f where the value has no such field. */
export const checkField = (name: string, rules: SqlRules): void => {
  if (rules.allowedFunctions.includes(qualifiedName([name]))) return;
  throw refusal(
    `read the field ${shown(name)} of an expression, which may call a function`,
    'Read whole columns, or ask for that name in allowed_functions of this connector',
  );
};
