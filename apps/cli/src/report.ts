import { CommanderError } from 'commander';
import { redactText } from '#libs/infra/logging';
import { EXIT, explain, type ExitCode, type Explanation } from './cli-error.js';
import type { Terminal } from './terminal.js';

/** Says on standard error what went wrong and what to do next, and how the program is to end. */
export const reportError = (terminal: Terminal, isJson: boolean, error: unknown): ExitCode => {
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) {
    // Help was printed. Without a command it was not what the caller wanted.
    return error.exitCode === 0 ? EXIT.fine : EXIT.unusable;
  }
  const { code, message, exitCode } = explanationOf(error);
  terminal.err(isJson ? `${JSON.stringify({ object: 'error', code, message })}\n` : `${message}\n`);
  return exitCode;
};

const explanationOf = (error: unknown): Explanation => {
  if (error instanceof CommanderError) {
    // It quotes what was typed, which may be a URL with a password.
    return { code: 'usage', message: redactText(usageMessage(error.message)), exitCode: EXIT.unusable };
  }
  const known = explain(error);
  if (known) return { ...known, message: redactText(known.message) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `This is a fault of the program. Please report it with these lines:\n${redactText(text)}`;
  return { code: 'internal_error', message, exitCode: EXIT.unusable };
};

/** In quotes, an argument from its scheme on: one that was typed wrong shows no more where a password begins and ends. */
const QUOTED_URL = /'([^']*?\b[a-z][a-z0-9+.-]*:\/\/).*'/is;

/** `error: missing required argument 'name'` as a sentence, with the next step. */
const usageMessage = (message: string): string => {
  const said = message
    .replace(/^error: /, '')
    .replace(QUOTED_URL, "'$1[redacted]'")
    .replace(/\s+/g, ' ')
    .trim();
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return `${sentence}${/[.?)]$/.test(sentence) ? '' : '.'} Add --help to see how it is used.`;
};
