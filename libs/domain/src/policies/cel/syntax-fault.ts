import { tokensOf } from './expression-text.js';
import { operatorHint } from './operator-hints.js';

export interface SyntaxFault {
  readonly code: 'expression_syntax' | 'unsupported_expression';
  /** UTF-16 offset in the expression: of the token, or of the end. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

const OPENERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const CLOSERS: ReadonlySet<string> = new Set(Object.values(OPENERS));
const BINARY: ReadonlySet<string> = new Set([
  '&&',
  '||',
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '+',
  '-',
  '*',
  '/',
  '%',
  'in',
]);
const OPTIONAL_AFTER: ReadonlySet<string> = new Set(['.', '[', '{']);
const UNARY: ReadonlySet<string> = new Set(['-', '!']);
const NAME = /^[A-Za-z_]\w*$/;
const BYTES_PREFIX = /^(?:[bB][rR]?|[rR][bB])$/;
const QUOTED = /^[rR]?["']/;
const CLOSED =
  /^(?:[rR]?(?:"""[^]*"""|'''[^]*''')|[rR](?:"[^"\n]*"|'[^'\n]*')|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')$/;
const QUOTED_MAX_CHARACTERS = 40;
const LITERAL = /^(?:\d|[rRbB]{0,2}["'])/;

/**
 * In a text that the parser refused, the first token that cannot stand where it does; null when the fault is another
 * one. The parser itself goes back to where the last whole expression ended, and names the token there: a sound one,
 * often far before the one at fault.
 */
export const syntaxFault = (text: string): SyntaxFault | null => {
  const reader = new TokenReader();
  for (const { token, offset } of tokensOf(text)) {
    if (QUOTED.test(token) && !CLOSED.test(token)) return invalidAt(offset, 'a text lacks its closing quote');
    if (token === '?' && reader.isAtOptional) return optionalAt(offset);
    if (reader.accepts(token)) continue;
    const hint = reader.hintAt(text.slice(offset));
    return {
      ...invalidAt(offset, `"${clipped(token)}" is not expected here`),
      ...(hint === undefined ? {} : { hint }),
    };
  }
  return reader.isComplete ? null : invalidAt(text.trimEnd().length, 'it ends too early');
};

/** @param what is wrong there, as a clause */
export const invalidAt = (offset: number, what: string): SyntaxFault => ({
  code: 'expression_syntax',
  offset,
  message: `The condition is not valid CEL: ${what}.`,
});

/** CEL has optional values as an extension, which its parsers may leave out. */
const optionalAt = (offset: number): SyntaxFault => ({
  code: 'unsupported_expression',
  offset,
  message: 'Optional fields and items (.?, [?] and {?}) are not part of conditions.',
  hint: 'Look with has() first, as in has(args.note) && args.note == "x".',
});

const clipped = (token: string): string => {
  const characters = [...token.replace(/\s+/g, ' ')];
  if (characters.length <= QUOTED_MAX_CHARACTERS) return characters.join('');
  return `${characters.slice(0, QUOTED_MAX_CHARACTERS - 1).join('')}…`;
};

/**
 * Knows all that a token can break: values and operators take turns, and brackets close in the order they were opened.
 */
class TokenReader {
  /** What must come before the end: closing brackets, and the colon of a condition. */
  private readonly awaited: string[] = [];
  /** The last two tokens, the later one first. */
  private before: readonly [string, string] = ['', ''];
  private hasValue = false;

  get isComplete(): boolean {
    return this.hasValue && this.awaited.length === 0;
  }

  /** Where a question mark would make what follows optional: a field, an index, an item or an entry. */
  get isAtOptional(): boolean {
    if (this.hasValue) return false;
    return this.before[0] === ',' ? this.awaited.at(-1) !== ')' : OPTIONAL_AFTER.has(this.before[0]);
  }

  accepts(token: string): boolean {
    const isAccepted = this.hasValue ? this.afterValue(token) : this.forValue(token);
    if (isAccepted) this.before = [token, this.before[0]];
    return isAccepted;
  }

  /** The next step for a token that was not accepted, where an operator was awaited, or had one character too many. */
  hintAt(rest: string): string | undefined {
    return this.hasValue || this.before[0] === '==' ? operatorHint(rest, this.before) : undefined;
  }

  private forValue(token: string): boolean {
    if (this.before[0] === '.') return this.becomes(NAME.test(token));
    // An empty list, map or argument list, and a comma before the end of one.
    if (CLOSERS.has(token)) return (this.before[0] in OPENERS || this.before[0] === ',') && this.closes(token);
    if (token in OPENERS) return this.opens(token);
    if (UNARY.has(token) || token === '.') return true;
    return this.becomes(LITERAL.test(token) || (NAME.test(token) && token !== 'in'));
  }

  private afterValue(token: string): boolean {
    if (BYTES_PREFIX.test(this.before[0]) && LITERAL.test(token)) return true;
    if (CLOSERS.has(token)) return this.closes(token);
    // Of a call or a message the name stands before, and of an index the value.
    if (token in OPENERS) return (token === '[' || NAME.test(this.before[0])) && this.opens(token);
    if (token === '?') this.awaited.push(':');
    else if (token === ':') {
      const awaited = this.awaited.at(-1);
      if (awaited === ':') this.awaited.pop();
      else if (awaited !== '}') return false;
    } else if (token === ',') {
      if (!CLOSERS.has(this.awaited.at(-1) ?? '')) return false;
    } else if (!BINARY.has(token) && token !== '.') return false;
    this.hasValue = false;
    return true;
  }

  private becomes(isValue: boolean): boolean {
    this.hasValue = isValue;
    return isValue;
  }

  private opens(token: string): boolean {
    this.awaited.push(OPENERS[token] as string);
    this.hasValue = false;
    return true;
  }

  private closes(token: string): boolean {
    this.hasValue = true;
    return this.awaited.pop() === token;
  }
}
