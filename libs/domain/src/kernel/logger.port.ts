/** Attributes of one log line. Redaction runs on every record (rule OPS-2); never pass arguments, results or bodies. */
export type LogAttributes = Readonly<Record<string, unknown>>;

export abstract class Logger {
  abstract debug(message: string, attributes?: LogAttributes): void;
  abstract info(message: string, attributes?: LogAttributes): void;
  abstract warn(message: string, attributes?: LogAttributes): void;
  abstract error(message: string, attributes?: LogAttributes): void;
}
