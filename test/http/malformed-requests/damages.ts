import type { DescribedOperation } from '../described-answer.js';
import { type DescribedField, type DescribedParameter, fieldsOfBody, parametersOf } from './described-places.js';
import { bodyOf, type Draft, RawJson, withField, withHeader } from './draft.js';
import {
  WRONG_BODIES,
  WRONG_CONTENT_TYPES,
  WRONG_HEADER,
  WRONG_KEYS,
  wrongJsonFor,
  wrongTextFor,
} from './wrong-values.js';

export type Damage = (draft: Draft) => Draft;

/** One place of a request, and everything that may be wrong there. */
export interface Place {
  readonly name: string;
  readonly damages: readonly Damage[];
}

/** Every place of an operation's requests. */
export const placesOf = (operation: DescribedOperation): readonly Place[] => [
  ...parametersOf(operation).map((parameter) => parameterPlace(operation, parameter)),
  ...fieldsOfBody(operation).map(fieldPlace),
  { name: 'query', damages: QUERIES },
  { name: 'method', damages: METHODS.map((method) => (draft) => ({ ...draft, method })) },
  { name: 'path', damages: PATHS },
  { name: 'Authorization', damages: headerDamages('Authorization', WRONG_KEYS) },
  { name: 'Content-Type', damages: headerDamages('Content-Type', WRONG_CONTENT_TYPES) },
  { name: 'body', damages: BODIES },
  { name: 'headers', damages: HEADERS },
  { name: 'framing', damages: FRAMINGS },
];

const parameterPlace = ({ template }: DescribedOperation, { name, in: place, schema }: DescribedParameter): Place => {
  const title = `${place} ${name}`;
  if (place === 'header') return { name: title, damages: headerDamages(name, WRONG_HEADER) };
  const texts = wrongTextFor(schema);
  if (place === 'path') {
    const index = template.split('/').indexOf(`{${name}}`);
    const replaced = (text: string) => (draft: Draft) => {
      const segments = draft.target.split('/');
      segments[index] = text;
      return { ...draft, target: segments.join('/') };
    };
    return { name: title, damages: texts.map(replaced) };
  }
  const queried = (query: string) => (draft: Draft) => ({ ...draft, target: withQuery(draft.target, query) });
  const twice = [`${name}=1&${name}=2`, `${name}[]=1`, `${name}[a]=1`, name, `${name.toUpperCase()}=1`];
  return { name: title, damages: [...texts.map((text) => `${name}=${text}`), ...twice].map(queried) };
};

const withQuery = (target: string, query: string): string => `${target}${target.includes('?') ? '&' : '?'}${query}`;

const headerDamages = (name: string, values: readonly string[]): readonly Damage[] => [
  ...values.map((value) => (draft: Draft) => withHeader(draft, name, value)),
  (draft) => withHeader(draft, name),
  (draft) => withHeader(draft, name, 'a', 'b'),
  (draft) => {
    const [given = 'a'] = draft.headers.filter(([other]) => other === name).map(([, value]) => value);
    return withHeader(draft, name, given, given);
  },
];

const fieldPlace = ({ path, schema }: DescribedField): Place => {
  const name = path.at(-1);
  return {
    name: `body ${path.join('.')}`,
    damages: [
      ...wrongJsonFor(schema).map((text) => (draft: Draft) => withField(draft, path, new RawJson(text))),
      (draft) => withField(draft, path, undefined),
      (draft) => withField(draft, [...path.slice(0, -1), 'colour'], 'blue'),
      // Ends the member and begins it again: the same name twice.
      (draft) => withField(draft, path, new RawJson(typeof name === 'string' ? `1,"${name}":1` : '1,1')),
    ],
  };
};

const QUERIES: readonly Damage[] = [
  'colour=1',
  'limit=',
  'limit=1&limit=1',
  '=',
  '&&&',
  '?',
  '%',
  '%=%',
  '%ff=1',
  '__proto__=1',
  'constructor[prototype][x]=1',
  'a'.repeat(8_000),
  `${'a=1&'.repeat(2_000)}`,
  '#fragment',
  'a=\xff',
].map((query) => (draft) => ({ ...draft, target: withQuery(draft.target, query) }));

const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND LINK get Post BREW M-SEARCH'.split(' ');

const PATHS: readonly Damage[] = [
  (target: string) => `/${target}`,
  (target: string) => `${target}/`,
  (target: string) => `${target}/.`,
  (target: string) => `${target}/..`,
  (target: string) => `${target}%2f`,
  (target: string) => `${target}%00`,
  (target: string) => `${target};a=b`,
  (target: string) => `${target}.json`,
  (target: string) => `${target}%`,
  (target: string) => `${target}%zz`,
  (target: string) => `${target}%ff`,
  (target: string) => `${target}\xff`,
  (target: string) => `${target}/${'x/'.repeat(500)}`,
  (target: string) => `/..${target}`,
  (target: string) => `/%2e%2e${target}`,
  (target: string) => `/.${target}`,
  (target: string) => target.replaceAll('/', '//'),
  (target: string) => target.replaceAll('/', '\\'),
  (target: string) => target.replaceAll('/', '%2f'),
  (target: string) => target.toUpperCase(),
  (target: string) => target.replace('v1', 'v2'),
  (target: string) => target.replace('v1', '%761'),
  (target: string) => target.slice(1),
  (target: string) => `http://localhost${target}`,
  (target: string) => `http://evil.example${target}`,
  (target: string) => `https://user:pass@localhost${target}`,
  (target: string) => `ftp://localhost${target}`,
  () => '*',
  () => '',
  () => '//',
  () => '/__proto__',
  () => '/constructor/prototype',
  () => `/${'a'.repeat(15_000)}`,
].map((change) => (draft: Draft) => ({ ...draft, target: change(draft.target) }));

const BODIES: readonly Damage[] = [
  ...WRONG_BODIES.map((bytes) => (draft: Draft) => ({ ...draft, bytes })),
  (draft) => ({ ...draft, json: null }),
  (draft) => ({ ...draft, bytes: (bodyOf(draft) ?? Buffer.from('{}')).subarray(0, -1) }),
  (draft) => ({ ...draft, bytes: Buffer.concat([bodyOf(draft) ?? Buffer.alloc(0), Buffer.from(',')]) }),
];

const HEADERS: readonly Damage[] = [
  ...['gzip', 'br', 'identity', 'x', 'gzip, gzip'].map(
    (coding) => (draft: Draft) => withHeader(draft, 'Content-Encoding', coding),
  ),
  ...['text/html', '', 'x', '*/*;q=2', 'a'.repeat(2_000)].map(
    (accept) => (draft: Draft) => withHeader(draft, 'Accept', accept),
  ),
  ...['', 'a b', 'x:y', '[::1', 'evil.example', '127.0.0.1:1'].map(
    (host) => (draft: Draft) => withHeader(draft, 'Host', host),
  ),
  (draft) => withHeader(draft, 'Host'),
  (draft) => withHeader(draft, 'Host', 'a', 'b'),
  (draft) => withHeader(draft, 'Expect', 'x'),
  (draft) => withHeader(draft, 'Expect', '100-continue'),
  (draft) => withHeader(draft, 'Upgrade', 'websocket'),
  (draft) => withHeader(draft, 'X-HTTP-Method-Override', 'DELETE'),
  (draft) => withHeader(draft, 'X-Forwarded-For', '\x7f'),
  (draft) => withHeader(draft, 'Range', 'bytes=0-0,1-1,-1'),
  (draft) => withHeader(draft, 'If-None-Match', '"', 'W/"x"', '*'),
  (draft) => withHeader(draft, 'Cookie', `a=${'b'.repeat(4_000)}`),
  (draft) => withHeader(draft, '__proto__', 'a'),
  (draft) => withHeader(draft, 'constructor', 'a'),
  (draft) => withHeader(draft, 'X', ...Array<string>(200).fill('y')),
  (draft) => withHeader(draft, 'X', 'y'.repeat(20_000)),
];

const FRAMINGS: readonly Damage[] = [
  ...['-1', '+5', '0x5', '1e1', '5,5', ' ', 'x', '99999999999999999999', '4294967296'].map(
    (length) => (draft: Draft) => withHeader(draft, 'Content-Length', length),
  ),
  ...['chunked, gzip', 'gzip, chunked', 'xchunked', 'identity', '', 'chunked\x0b'].map(
    (coding) => (draft: Draft) => withHeader({ ...draft, endsSending: true }, 'Transfer-Encoding', coding),
  ),
  (draft) => withHeader(draft, 'Content-Length', '5', '6'),
  (draft) => withHeader({ ...draft, endsSending: true }, 'Content-Length', '1000'),
  (draft) => ({ ...withHeader(draft, 'Transfer-Encoding', 'chunked'), bytes: Buffer.from('zz\r\n') }),
  (draft) => ({ ...withHeader(draft, 'Transfer-Encoding', 'chunked'), bytes: Buffer.from('2\r\n{}x\r\n0\r\n\r\n') }),
  (draft) => ({
    ...withHeader(draft, 'Transfer-Encoding', 'chunked'),
    bytes: Buffer.from('1\r\n{\r\n'),
    endsSending: true,
  }),
  (draft) => ({
    ...withHeader(withHeader(draft, 'Transfer-Encoding', 'chunked'), 'Content-Length', '5'),
    endsSending: true,
  }),
  ...['nonsense\r\n', 'X : y\r\n', ' folded\r\n', 'X: a\nY: b\r\n', 'X: a\rY: b\r\n', 'X\0: a\r\n', ': a\r\n'].map(
    (rawLines) => (draft: Draft) => ({ ...draft, rawLines }),
  ),
  (draft) => ({ ...draft, method: `${draft.method} ` }),
  (draft) => ({ ...draft, method: `\r\n\0${draft.method}` }),
  (draft) => ({ ...draft, method: '\x16\x03\x01' }),
  (draft) => ({ ...draft, target: `${draft.target} HTTP/9.9` }),
];
