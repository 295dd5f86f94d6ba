import { CURRENCY_PATTERN, type JsonValue } from '#libs/crypto';

import type { MoneyMark } from '../../kernel/index.js';
import { ConfigReader } from '../config-reader.js';
import { isOfType } from './rest-arguments.js';
import {
  ARGUMENT_PLACES,
  ARGUMENT_TYPES,
  QUERY_STYLES,
  type QueryStyle,
  REST_LIMITS,
  type RestArgument,
} from './rest-config.js';
import { isAllowedHeaderArgumentName } from '../header-names.js';
import { REST_PLACES } from './rest-keys.js';
import { patternFault } from './rest-pattern.js';
import { queryListFault } from './rest-query.js';

/** Arguments are named as the upstream names them: `page[size]`, `$filter`, `created.gte`. */
const ARGUMENT_NAME = /^[A-Za-z_$][A-Za-z0-9_.$[\]-]{0,63}$/;
/** Means the prototype to JavaScript readers of the same JSON. */
const REFUSED_NAME = '__proto__';

const NAME_MAX_CHARACTERS = 64;

const MAX_LENGTH_LIMIT = 262_144;

/** The arguments of a tool (rule REST-1). Undefined, and problems, when they cannot be used. */
export const readArguments = (tool: ConfigReader): Readonly<Record<string, RestArgument>> | undefined => {
  if (!tool.has('args')) return {};
  const args = ConfigReader.of(tool.raw('args'), tool.at('args'), tool.problems);
  if (args === null) return undefined;
  const names = Object.keys(args.object);
  if (names.length > REST_LIMITS.args) {
    return tool.report('args', `must have at most ${REST_LIMITS.args} arguments, not ${names.length}.`);
  }
  const read = names.map((name) => [name, readNamed(args, name)] as const);
  const isUsable = (entry: (typeof read)[number]): entry is readonly [string, RestArgument] => entry[1] !== undefined;
  if (!read.every(isUsable)) return undefined;
  const usable = Object.fromEntries(read.filter(isUsable));
  checkCurrencyArguments(args, usable);
  return withUsablePatterns(args, usable);
};

/** An amount whose currency another argument names needs that argument, as a text. */
const checkCurrencyArguments = (reader: ConfigReader, args: Readonly<Record<string, RestArgument>>): void => {
  for (const [name, { money }] of Object.entries(args)) {
    if (money === undefined || !('currency_arg' in money)) continue;
    const named = Object.hasOwn(args, money.currency_arg) ? args[money.currency_arg] : undefined;
    if (named?.type === 'string') continue;
    const why = named === undefined ? 'has none of that name' : `has one of type ${named.type} there`;
    reader.report(`${name}.money.currency_arg`, `must name an argument of type string, and the tool ${why}.`);
  }
};

const withUsablePatterns = (
  reader: ConfigReader,
  args: Readonly<Record<string, RestArgument>>,
): Readonly<Record<string, RestArgument>> => {
  // One refused pattern is enough for a whole config: compiling a large one takes time.
  if (reader.problems.all.some(({ param }) => param.endsWith('.pattern'))) return args;
  for (const [name, arg] of Object.entries(args)) {
    const fault = patternFault(arg);
    if (fault === null) continue;
    reader.report(`${name}.pattern`, fault);
    return args;
  }
  return args;
};

const readNamed = (args: ConfigReader, name: string): RestArgument | undefined => {
  if (!ARGUMENT_NAME.test(name) || name === REFUSED_NAME) {
    return args.report(
      name,
      'is not a usable name: a name has 1 to 64 letters, digits or _.$[]- and does not begin with a digit, a dot or a bracket.',
    );
  }
  const reader = ConfigReader.of(args.raw(name), args.at(name), args.problems);
  return reader === null ? undefined : readArgument(reader);
};

const readArgument = (reader: ConfigReader): RestArgument | undefined => {
  reader.require('in');
  reader.require('type');
  const place = reader.choice('in', ARGUMENT_PLACES);
  const type = reader.choice('type', ARGUMENT_TYPES);
  const required = reader.flag('required');
  const sensitive = reader.flag('sensitive');
  const description = reader.description(REST_LIMITS.descriptionCharacters);
  reader.refuseUnknown(REST_PLACES.argument);
  if (place === undefined || type === undefined) return undefined;
  if (place === 'path' && required === false)
    reader.report('required', 'must be true or left out: an argument in the path is always required.');
  if ((place === 'path' || place === 'header') && (type === 'object' || type === 'array')) {
    reader.report('type', `must be string, integer, number or boolean for an argument in the ${place}.`);
  }
  if (place === 'query' && type === 'object') {
    reader.report(
      'type',
      'must not be object in the query, where APIs write objects in different ways: give each member an argument of its own, named as the API names it, such as filter[status].',
    );
  }
  const style = readStyle(reader, place, type);
  const header = readHeader(reader, place);
  const money = readMoney(reader, type);
  return {
    in: place,
    type,
    ...readTextRules(reader, type),
    ...readRange(reader, type),
    ...readEnum(reader, { in: place, type, ...(style === undefined ? {} : { style }) }),
    required: place === 'path' || (required ?? false),
    sensitive: sensitive ?? false,
    ...(description === undefined ? {} : { description }),
    ...(style === undefined ? {} : { style }),
    ...(header === undefined ? {} : { header }),
    ...(money === undefined ? {} : { money }),
  };
};

const readMoney = (reader: ConfigReader, type: RestArgument['type']): MoneyMark | undefined => {
  if (!reader.has('money')) return undefined;
  if (type !== 'integer') {
    return reader.report('money', 'is for integers only: an amount of money is a whole number of minor units.');
  }
  const money = ConfigReader.of(reader.raw('money'), reader.at('money'), reader.problems);
  if (money === null) return undefined;
  money.refuseUnknown(REST_PLACES.money);
  if (money.has('currency') === money.has('currency_arg')) {
    return reader.report(
      'money',
      'must have either currency, a code such as eur, or currency_arg, the argument that names it.',
    );
  }
  const name = money.text('currency_arg', { maxCharacters: NAME_MAX_CHARACTERS });
  if (name !== undefined) return { currency_arg: name };
  const currency = money.text('currency', { maxCharacters: NAME_MAX_CHARACTERS });
  if (currency === undefined || CURRENCY_PATTERN.test(currency))
    return currency === undefined ? undefined : { currency };
  return money.report('currency', 'must be a code of ISO 4217, three lower-case letters such as eur.');
};

const readStyle = (
  reader: ConfigReader,
  place: RestArgument['in'],
  type: RestArgument['type'],
): QueryStyle | undefined => {
  if (place === 'query' && type === 'array') return reader.choice('style', QUERY_STYLES) ?? 'form';
  return reader.has('style') ? reader.report('style', 'is for lists in the query only.') : undefined;
};

const readHeader = (reader: ConfigReader, place: RestArgument['in']): string | undefined => {
  if (place !== 'header') {
    return reader.has('header') ? reader.report('header', 'is for arguments in a header only.') : undefined;
  }
  const header = reader.text('header', { maxCharacters: 66, isRequired: true });
  if (header === undefined || isAllowedHeaderArgumentName(header)) return header;
  return reader.report(
    'header',
    'must be X- and 1 to 64 letters, digits or hyphens; X-Forwarded-* and headers that override the method or the path are refused.',
  );
};

const readTextRules = (
  reader: ConfigReader,
  type: RestArgument['type'],
): Pick<RestArgument, 'pattern' | 'max_length'> => {
  if (type !== 'string') {
    for (const key of ['pattern', 'max_length']) if (reader.has(key)) reader.report(key, 'is for strings only.');
    return {};
  }
  const maxLength = reader.integer('max_length', { min: 1, max: MAX_LENGTH_LIMIT });
  const pattern = reader.text('pattern', { maxCharacters: REST_LIMITS.patternCharacters });
  return {
    ...(pattern === undefined ? {} : { pattern }),
    ...(maxLength === undefined ? {} : { max_length: maxLength }),
  };
};

const readRange = (reader: ConfigReader, type: RestArgument['type']): Pick<RestArgument, 'min' | 'max'> => {
  const min = readBound(reader, 'min', type);
  const max = readBound(reader, 'max', type);
  if (min !== undefined && max !== undefined && min > max) reader.report('max', 'must not be less than min.');
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
};

const readBound = (reader: ConfigReader, key: 'min' | 'max', type: RestArgument['type']): number | undefined => {
  const value = reader.raw(key);
  if (value === undefined) return undefined;
  if (type !== 'integer' && type !== 'number') return reader.report(key, 'is for integers and numbers only.');
  if (typeof value === 'number' && isOfType(type, value)) return value;
  return reader.report(key, `must be ${type === 'integer' ? 'an integer' : 'a number'}.`);
};

const readEnum = (
  reader: ConfigReader,
  arg: Pick<RestArgument, 'in' | 'type' | 'style'>,
): Pick<RestArgument, 'enum'> => {
  const { type } = arg;
  if (!reader.has('enum')) return {};
  const entries = reader.list('enum', { min: 1, max: REST_LIMITS.enumEntries });
  if (entries === undefined) return {};
  entries.forEach((entry: JsonValue, index) => {
    if (!isOfType(type, entry)) reader.report(`enum[${index}]`, `must be of type ${type}, like every entry of enum.`);
    const fault = arg.in === 'query' && Array.isArray(entry) ? queryListFault(arg, entry) : null;
    if (fault !== null) reader.report(`enum[${index}]`, `${fault}.`);
  });
  return { enum: entries };
};
