import type { JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';
import type { QueryStyle, RestArgument } from './rest-config.js';

/** What stands between the elements of a list that is one parameter. Null: every element is a parameter of its own. */
const DELIMITERS: Readonly<Record<QueryStyle, string | null>> = {
  form: null,
  brackets: null,
  // Inside an element a comma is %2C, so that the two can be told apart.
  comma: ',',
  pipe: '%7C',
  space: '%20',
};

/** A URL has these percent-encoded between elements as well: an element that holds one would be read as two. */
const REFUSED_WITHIN: Readonly<Partial<Record<QueryStyle, readonly [character: string, name: string]>>> = {
  pipe: ['|', 'a pipe'],
  space: [' ', 'a space'],
};

/** A config of an earlier version names no style. */
const styleOf = (arg: Pick<RestArgument, 'style'>): QueryStyle => arg.style ?? 'form';

/** The parameters of one argument, encoded. None for an empty list. */
export const queryParametersOf = (name: string, arg: RestArgument, value: JsonValue): readonly string[] => {
  const encoded = encodeURIComponent(name);
  const elements = elementsOf(value).map((element) => encodeURIComponent(element));
  if (!Array.isArray(value)) return elements.map((element) => `${encoded}=${element}`);
  const style = styleOf(arg);
  const delimiter = DELIMITERS[style];
  if (delimiter !== null) return elements.length === 0 ? [] : [`${encoded}=${elements.join(delimiter)}`];
  const parameter = style === 'brackets' ? `${encoded}%5B%5D` : encoded;
  return elements.map((element) => `${parameter}=${element}`);
};

/** How a list cannot travel in a query, as the end of a sentence; null when it can. Never holds an element. */
export const queryListFault = (
  arg: Pick<RestArgument, 'style'> & Partial<Pick<RestArgument, 'required'>>,
  list: readonly JsonValue[],
): string | null => {
  // A request without its filter may mean everything.
  if (arg.required && list.length === 0) return 'must hold at least one element, because an empty list sends nothing';
  if (list.some((element) => element === null || typeof element === 'object')) {
    return 'must hold only strings, numbers and true or false, because it is sent in the query';
  }
  const [character, name] = REFUSED_WITHIN[styleOf(arg)] ?? [];
  if (character === undefined) return null;
  const isSplit = list.some((element) => typeof element === 'string' && element.includes(character));
  return isSplit ? `must hold no element with ${name}, which stands between its elements in the query` : null;
};

/** The strict parser lets no half character in; text from elsewhere must not turn into another text on its way. */
export const isWellFormedInQuery = (value: JsonValue): boolean =>
  elementsOf(value).every((element) => element.isWellFormed());

const elementsOf = (value: JsonValue): readonly string[] =>
  Array.isArray(value) ? value.map(textOf) : [textOf(value)];

/** The text of a value in a path, a query or a header. Only configs of an earlier version have objects there. */
export const textOf = (value: JsonValue): string => {
  if (typeof value === 'string') return value;
  return Array.isArray(value) || isObject(value) ? JSON.stringify(value) : String(value);
};
