// Puts the OpenAPI document together. Each file of apps/api/src/openapi describes one context, openapi.yaml what all of them
// share; they become dist/openapi.yaml, the one document that the service serves. A build does this, and so does a test run.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, parseDocument } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PARTS = join(root, 'apps', 'api', 'src', 'openapi');
/** Stands first, and alone has members of the document itself, such as `info` and `tags`. */
const COMMON = 'openapi.yaml';
/** What every file may have, in the order of the document; the members of the last are kinds of named descriptions. */
const SECTIONS = ['paths', 'webhooks', 'components'];

/**
 * The document as text. What stands in the files is taken as it is written there.
 * @param {Readonly<Record<string, string>>} parts the text of each file by its name
 * @returns {string}
 * @throws {Error} where the files are no one document, with what to do instead
 */
export const joinedDocument = (parts) => {
  const files = Object.keys(parts).toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  const sections = Object.fromEntries(SECTIONS.map((name) => [name, new Map()]));
  /** Where each path, webhook and component stands, and who refers to which component. */
  const places = new Map();
  const references = [];
  let text = '';
  for (const file of files) {
    const source = parts[file];
    for (const { name, value, body, whole } of membersOf(source, mappingIn(file, source))) {
      if (!SECTIONS.includes(name)) {
        if (file !== COMMON) {
          throw new Error(`${file} has ${name}: only ${COMMON} says it, the others have ${SECTIONS.join(', ')}.`);
        }
        text += whole;
      } else if (name !== 'components') {
        claim(places, `${name} `, value, file);
        add(sections[name], '', body);
      } else {
        for (const kind of membersOf(source, value)) {
          claim(places, `#/components/${kind.name}/`, kind.value, file);
          add(sections.components, kind.name, kind.body);
        }
      }
    }
    for (const [, to] of source.matchAll(/\$ref: '([^']*)'/g)) references.push({ file, to });
  }
  const dangling = references.find(({ to }) => !places.has(to));
  if (dangling !== undefined) throw new Error(`${dangling.file} refers to ${dangling.to}, which no file describes.`);
  for (const [name, bodies] of Object.entries(sections)) {
    if (bodies.size === 0) continue;
    text += `\n${name}:\n${[...bodies].map(([kind, body]) => (kind === '' ? body : `  ${kind}:\n${body}`)).join('\n')}`;
  }
  return text;
};

const rank = (file) => (file === COMMON ? 0 : 1);

const add = (bodies, kind, body) => bodies.set(kind, (bodies.get(kind) ?? '') + body);

/** Notes where the members of a mapping stand; of one that stands elsewhere already, that it does. */
const claim = (places, prefix, { items }, file) => {
  for (const { key } of items) {
    const name = `${prefix}${key.value}`;
    const other = places.get(name);
    if (other !== undefined) throw new Error(`${name} stands in ${other} and in ${file}: one of them has to go.`);
    places.set(name, file);
  }
};

const mappingIn = (file, source) => {
  const { errors, contents } = parseDocument(source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  if (!isMap(contents)) throw new Error(`${file} is no mapping: it has ${SECTIONS.join(', ')}.`);
  return contents;
};

/** The members of a mapping: each as a node and as whole lines of the file, with and without the line of its name. */
const membersOf = (source, { items, range }) => {
  const starts = items.map(({ key }) => source.lastIndexOf('\n', key.range[0]) + 1);
  return items.map(({ key, value }, index) => {
    const whole = `${source.slice(starts[index], starts[index + 1] ?? range[1]).trimEnd()}\n`;
    return { name: key.value, value, whole, body: whole.slice(whole.indexOf('\n') + 1) };
  });
};

/** @returns {string} */
export const openApiDocument = () => {
  const files = readdirSync(PARTS).filter((name) => name.endsWith('.yaml'));
  return joinedDocument(Object.fromEntries(files.map((name) => [name, readFileSync(join(PARTS, name), 'utf8')])));
};

/** @param {string} dist the folder of what is built */
export const writeOpenApiDocument = (dist) => {
  mkdirSync(dist, { recursive: true });
  const file = join(dist, 'openapi.yaml');
  // Whole at every moment: a service may start meanwhile.
  writeFileSync(`${file}.${process.pid}`, openApiDocument());
  renameSync(`${file}.${process.pid}`, file);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) writeOpenApiDocument(join(root, 'dist'));
