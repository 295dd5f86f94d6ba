// Writes what programs need of the OpenAPI document as values: its closed sets, patterns and limits for the Console, which
// knows the service by that document alone, and the filters of lists for both (docs/adr/0027-one-owner-for-each-fact.md).
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { openApiDocument } from './openapi.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const CONSOLE_FILE = 'apps/console/src/kernel/contract.ts';
const EDGE_FILE = 'apps/api/src/lists/list-filters.ts';
const HEAD = '// Made from the OpenAPI document by `npm run console:api`; a change here is lost.\n';

/** `ActionState`, `listActions` as `ACTION_STATE`, `LIST_ACTIONS`. */
const constantOf = (name) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();

/** @param {object} document @returns {string} */
export const consoleFacts = (document) => {
  const constants = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
    ...(Array.isArray(schema.enum) ? [`${constantOf(name)}_VALUES = ${JSON.stringify(schema.enum)} as const`] : []),
    ...(typeof schema.pattern === 'string'
      ? [`${constantOf(name)}_PATTERN = ${String(new RegExp(schema.pattern))}`]
      : []),
    ...(typeof schema.maxLength === 'number' ? [`${constantOf(name)}_MAX_LENGTH = ${schema.maxLength}`] : []),
  ]);
  const filters = Object.entries(listFilters(document)).map(
    ([list, own]) => `${constantOf(list)}_FILTERS = ${JSON.stringify(Object.keys(own))} as const`,
  );
  return `${HEAD}\n${[...constants, ...filters].map((each) => `export const ${each};`).join('\n')}\n`;
};

/** @param {object} document @returns {string} */
export const edgeFilters = (document) => `${HEAD}import type { FilterForm } from './filter-forms.js';

/** The filters of each list, by the id of its operation and in the order of the document. */
export const LIST_FILTERS = ${JSON.stringify(listFilters(document))} as const satisfies Readonly<Record<string, Readonly<Record<string, FilterForm>>>>;
`;

/** Of every operation that answers in pages: its query parameters but for those that say which page, and how much of each row. */
const listFilters = (document) => {
  const lists = {};
  for (const { get } of Object.values(document.paths)) {
    const isPaged = get?.parameters?.some(({ $ref }) => $ref === '#/components/parameters/Cursor') === true;
    if (!isPaged) continue;
    const own = get.parameters.filter((each) => each.in === 'query' && !each.name.endsWith('[]'));
    if (own.length === 0) continue;
    const forms = own.map((parameter) => [parameter.name, formOf(document, get.operationId, parameter)]);
    lists[get.operationId] = Object.fromEntries(forms);
  }
  return lists;
};

const formOf = ({ components: { schemas } }, list, { name, explode, schema }) => {
  const named = schema.$ref?.split('/').at(-1);
  const { enum: values } = named === undefined ? schema : schemas[named];
  const byDefault = schema.default === undefined ? {} : { default: schema.default };
  const item = schema.type === 'array' && explode === false ? schema.items?.$ref?.split('/').at(-1) : undefined;
  if (item !== undefined && Array.isArray(schemas[item].enum)) return { listOf: schemas[item].enum };
  if (Array.isArray(values)) return { oneOf: values, ...byDefault };
  if (named !== undefined) return { is: named, ...byDefault };
  if (schema.const === 'true') return { is: 'OnlyTrue' };
  if (schema.type === 'integer') return { from: schema.minimum, to: schema.maximum };
  throw new Error(`${list}, filter ${name}: refer to a named schema, or to a comma list of one (explode: false).`);
};

const write = async (name, text) => {
  const file = join(root, name);
  const formatted = await format(text, { ...(await resolveConfig(file)), parser: 'typescript' });
  if (formatted !== readFileSync(file, { encoding: 'utf8', flag: 'a+' })) writeFileSync(file, formatted);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const document = parse(openApiDocument());
  await write(CONSOLE_FILE, consoleFacts(document));
  await write(EDGE_FILE, edgeFilters(document));
}
