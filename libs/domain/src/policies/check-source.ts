import { CST, Lexer } from 'yaml';

import { Diagnostics, type PolicyDiagnosticCode } from './diagnostics.js';
import { isTooLarge, POLICY_SOURCE_MAX_BYTES, POLICY_SOURCE_MAX_LINES, SourceText } from './source-text.js';
import { ESCAPE_HINT } from './yaml-nodes.js';

/** What findings about the size of a text call it, and what they advise; without advice, that of their code. */
interface CheckedText {
  readonly name: string;
  readonly sizeHint: string | null;
}

const POLICY_TEXT: CheckedText = { name: 'The policy', sizeHint: null };

const hintOf = ({ sizeHint }: CheckedText): { readonly hint?: string } => (sizeHint === null ? {} : { hint: sizeHint });

/**
 * What is refused before a parser builds anything, so that no text can make one slow: the size, the characters, the
 * number of lines and tokens, and every part of YAML that a policy does without (rule POLICY-8).
 */
export const checkSource = (
  text: string,
  what: CheckedText = POLICY_TEXT,
): { source: SourceText; diagnostics: Diagnostics } => {
  if (isTooLarge(text)) return tooLarge(what);
  const source = new SourceText(text);
  const diagnostics = new Diagnostics(source);
  if (source.lineCount > POLICY_SOURCE_MAX_LINES) {
    const message = `${what.name} has ${source.lineCount} lines; at most ${POLICY_SOURCE_MAX_LINES} are read.`;
    diagnostics.report('too_many_lines', source.lineStart(POLICY_SOURCE_MAX_LINES), message, hintOf(what));
    return { source, diagnostics };
  }
  checkLineEndings(source, diagnostics);
  checkCharacters(source, diagnostics);
  // The lexer gives control characters a meaning of its own: it never sees a text that holds one.
  if (!diagnostics.hasErrors) new TokenCheck(source, diagnostics, what).run();
  return { source, diagnostics };
};

const tooLarge = (what: CheckedText): { source: SourceText; diagnostics: Diagnostics } => {
  const source = new SourceText('');
  const diagnostics = new Diagnostics(source);
  const message = `${what.name} is larger than ${POLICY_SOURCE_MAX_BYTES / 1024} KiB of UTF-8.`;
  diagnostics.report('source_too_large', 0, message, hintOf(what));
  return { source, diagnostics };
};

/** A text with CRLF throughout is good; one that mixes line endings is refused (rule POLICY-4). */
const checkLineEndings = (source: SourceText, diagnostics: Diagnostics): void => {
  const { text } = source;
  const isCrlf = text.includes('\r\n');
  const foreign = isCrlf ? /\r(?!\n)|(?<!\r)\n/ : /\r/;
  const at = text.search(foreign);
  if (at === -1) return;
  const message = isCrlf ? 'Lines end partly in CRLF and partly otherwise.' : 'A line ends in CR alone.';
  diagnostics.report('mixed_line_endings', at, message);
};

// A reviewer must see the text that the service reads: no control or format character, no line separator, nothing that a
// page may draw as nothing at all (direction marks, joiners, fillers, byte order marks), and no half of a character, which
// has no UTF-8 form. An emoji is drawn as one picture of several characters: its own selectors and joiners may stand in it.
const WITHIN_EMOJI = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`;
const UNSEEN = String.raw`[^\P{Control}\t\n\r]|[\p{Format}\p{Zl}\p{Zp}\p{Surrogate}\p{Default_Ignorable_Code_Point}]`;
const NOT_AS_SEEN = new RegExp(`${WITHIN_EMOJI}|(?<unseen>${UNSEEN})`, 'gu');

const checkCharacters = (source: SourceText, diagnostics: Diagnostics): void => {
  for (const { groups, index } of source.text.matchAll(NOT_AS_SEEN)) {
    const character = groups?.['unseen']?.codePointAt(0);
    if (character === undefined) continue;
    const code = character.toString(16).toUpperCase().padStart(4, '0');
    diagnostics.report('invalid_character', index, `The character U+${code} must not stand in a policy.`);
  }
};

const TOKENS_MAX = 30_000;
// Far beyond the seven levels of the language; the parser recurses once a level.
const INDENT_MAX_COLUMNS = 100;
const INDICATORS_MAX_PER_LINE = 16;

/** Token types of the lexer that no policy needs, with what to call them. */
const REFUSED_TOKENS: Readonly<Record<string, readonly [PolicyDiagnosticCode, string]>> = {
  alias: ['yaml_alias', 'An alias stands here.'],
  anchor: ['yaml_anchor', 'An anchor stands here.'],
  tag: ['yaml_tag', 'A tag stands here.'],
  'directive-line': ['yaml_directive', 'A YAML directive stands here.'],
  'explicit-key-ind': ['yaml_complex_key', 'A key is marked with a question mark.'],
  'flow-map-start': ['yaml_flow', 'A mapping is written in braces.'],
  'flow-seq-start': ['yaml_flow', 'A list is written in brackets.'],
};

/** A star that no name follows, or a name that no alias has, begins a glob. */
const globHint = (token: string): string | undefined => {
  if (token === '*') return 'Write it in quotes: "*". A field of match that is left out matches everything too.';
  return GLOB.test(token) ? `Write it in quotes: "${token}".` : undefined;
};

const GLOB = /^\*(?=.*[.*/])[A-Za-z0-9_.*/-]{1,79}$/;

// The lexer's own marks between tokens: they stand for no character of the text.
const MARKS: ReadonlySet<string> = new Set([CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);

/** What may stand in double quotes after YAML 1.2, section 5.7. */
const ESCAPE = /\\(?:[0abt\tnvfre "/\\N_LP\r\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4})/y;

class TokenCheck {
  private offset = 0;
  private tokens = 0;
  private indicatorsInLine = 0;
  private isLineStart = true;
  private hasContent = false;
  private hasEnded = false;

  constructor(
    private readonly source: SourceText,
    private readonly diagnostics: Diagnostics,
    private readonly what: CheckedText,
  ) {}

  run(): void {
    let isScalar = false;
    for (const token of new Lexer().lex(this.source.text)) {
      if (MARKS.has(token)) {
        isScalar = token === CST.SCALAR;
        continue;
      }
      this.tokens += 1;
      if (this.tokens > TOKENS_MAX) {
        const message = `${this.what.name} has too many keys and values to be read.`;
        this.diagnostics.report('too_complex', this.offset, message, hintOf(this.what));
        return;
      }
      // What follows the mark of a scalar is its text, whatever character it begins with.
      if (!this.check(isScalar ? 'scalar' : (CST.tokenType(token) ?? 'scalar'), token)) return;
      isScalar = false;
      this.offset += token.length;
    }
  }

  /** False when the rest is not worth reading. */
  private check(type: string, token: string): boolean {
    if (!this.checkNesting(type, token)) return false;
    if (type === 'double-quoted-scalar' && !this.checkEscapes(token)) return false;
    const refused = REFUSED_TOKENS[type];
    if (refused !== undefined) {
      const hint = type === 'alias' ? globHint(token) : undefined;
      this.diagnostics.report(refused[0], this.offset, refused[1], { hint });
    }
    return this.checkDocument(type);
  }

  /** The parser makes an error of every one of them, with all that an error takes. */
  private checkEscapes(token: string): boolean {
    const escapes = token.matchAll(/\\(?:\r\n|[^])/g);
    for (const { index } of escapes) {
      ESCAPE.lastIndex = index;
      if (ESCAPE.test(token)) continue;
      const escape = token.slice(index, index + 2);
      const message = `This is not valid YAML: Invalid escape sequence ${escape}.`;
      this.diagnostics.report('yaml_syntax', this.offset + index, message, { hint: ESCAPE_HINT });
      return false;
    }
    return true;
  }

  private checkNesting(type: string, token: string): boolean {
    if (type === 'newline') {
      this.indicatorsInLine = 0;
    } else if (type === 'seq-item-ind' || type === 'map-value-ind' || type === 'explicit-key-ind') {
      this.indicatorsInLine += 1;
    }
    const isTooDeep =
      this.indicatorsInLine > INDICATORS_MAX_PER_LINE ||
      (this.isLineStart && type === 'space' && token.length > INDENT_MAX_COLUMNS);
    this.isLineStart = type === 'newline';
    if (isTooDeep) this.diagnostics.report('yaml_nesting', this.offset, 'The text is nested too deeply here.');
    return !isTooDeep;
  }

  private checkDocument(type: string): boolean {
    switch (type) {
      case 'space':
      case 'newline':
      case 'comment':
      case 'directive-line':
        return true;
      case 'doc-end':
        this.hasEnded = true;
        return true;
      case 'doc-start':
        if (!this.hasContent && !this.hasEnded) {
          this.hasContent = true;
          return true;
        }
        break;
      default:
        this.hasContent = true;
        if (!this.hasEnded) return true;
    }
    this.diagnostics.report('yaml_multiple_documents', this.offset, 'A second document begins here.');
    return false;
  }
}
