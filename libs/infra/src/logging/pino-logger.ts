import { type LogAttributes, Logger } from '#libs/domain/kernel';
import { pino } from 'pino';
import { enduringOutput } from './enduring-output.js';
import { keyValueLines } from './key-value-lines.js';
import { redactAttributes, redactText } from './redaction.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** `json` in production, `text` (key=value) in dev. */
  readonly format: 'json' | 'text';
  /** Takes whole lines. Default: standard output. */
  readonly destination?: { write(line: string): void };
}

/** The Logger port over pino: one line a record, `time` in RFC 3339, redacted before it is written. */
export class PinoLogger extends Logger {
  private readonly pino: pino.Logger;

  constructor(options: LoggerOptions) {
    super();
    const lines =
      options.destination ?? enduringOutput(1, (lost) => this.warn('lines of this log could not be written', { lost }));
    this.pino = pino(
      {
        level: options.level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        messageKey: 'message',
      },
      options.format === 'json' ? lines : keyValueLines(lines),
    );
  }

  override debug(message: string, attributes: LogAttributes = {}): void {
    this.write('debug', message, attributes);
  }

  override info(message: string, attributes: LogAttributes = {}): void {
    this.write('info', message, attributes);
  }

  override warn(message: string, attributes: LogAttributes = {}): void {
    this.write('warn', message, attributes);
  }

  override error(message: string, attributes: LogAttributes = {}): void {
    this.write('error', message, attributes);
  }

  private write(level: LogLevel, message: string, attributes: LogAttributes): void {
    if (!this.pino.isLevelEnabled(level)) return;
    this.pino[level](redactAttributes(attributes), redactText(message));
  }
}
